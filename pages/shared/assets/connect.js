// Where the server of this page is: beside it. The front end would else ask for it at each level of the
// address, and wait for both answers before it connects. Only this page may send it messages.
window.__streamlit = {
  BACKEND_BASE_URL: new URL('./', location.href).href,
  HOST_CONFIG: {allowedOrigins: [location.origin], useExternalAuthToken: false},
};
