"""Tables 1 to 3 as printed.

In Table 2 the header over the columns must be wrong, and so must the budgets of the second half;
see the claims of the exhibit. Columns have the names that are printed. Standard errors of Tables 2
and 3 are printed in thousandths.
"""

from __future__ import annotations

import csv
import io

from reproductions.exhibits import Row, Table, Value

_TABLE_1 = """kernel,points,iclp,gaussian_process
exponential,100,.567688,.273463
exponential,200,2.778597,1.683808
exponential,500,29.98454,20.90210
Matérn 3/2,100,.571014,.270682
Matérn 3/2,200,2.636642,1.617183
Matérn 3/2,500,29.38142,20.56870
Gaussian,100,.553025,.268379
Gaussian,200,2.617800,1.610193
Gaussian,500,29.26284,20.41770
Matérn 5/2,100,.551222,.271477
Matérn 5/2,200,2.618398,1.615180
Matérn 5/2,500,29.29077,20.53389
"""
_HEADER = ("FRL", "ICLP-AR", "ICLP-QR", "Bernstein")  # as printed over both kernels
# Data, the budget as printed, then value and standard error of the four columns for each kernel.
_TABLE_2 = """
electricity,1/8,.2828,.1981,2.2110,1.5374,3.9110,2.9464,1.3726,1.2935,.2805,.1645,2.2279,1.5880,4.1614,3.5764,1.4261,1.3547
electricity,1/4,.1731,.0419,.6140,.3859,1.0391,.8066,.3459,.2783,.1703,.0376,.6053,.4227,1.1168,.8931,.3468,.2963
electricity,1/2,.1453,.0098,.2117,.1276,.3415,.1897,.0895,.0686,.1427,.0094,.2092,.0954,.3497,.2276,.0920,.0692
electricity,1,.1383,.0025,.1106,.0352,.1649,.0728,.0241,.0171,.1360,.0026,.1109,.0374,.1639,.0655,.0251,.0168
electricity,2,.1366,.0007,.0858,.0151,.1204,.0238,.0080,.0044,.1342,.0006,.0857,.0167,.1164,.0233,.0089,.0049
electricity,4,.1362,.0002,.0793,.0074,.1089,.0105,.0039,.0011,.1338,.0002,.0794,.0072,.1044,.0090,.0048,.0012
DTI,2,.6305,.2878,6.2473,4.2907,4.4245,3.9617,3.1996,2.6794,.6303,.2867,6.2155,4.8556,4.7453,4.0892,3.0841,2.7095
DTI,3,.4418,.0663,1.6122,1.0886,1.2691,1.1059,.8039,.6994,.4437,.0762,1.6275,1.1514,1.3049,.9318,.7820,.7225
DTI,4,.3952,.0165,.4929,.3046,.4701,.2522,.2040,.1627,.3974,.0158,.4907,.3274,.4793,.2431,.2028,.1790
DTI,5,.3836,.0045,.2080,.0824,.2747,.0756,.0555,.0369,.3859,.0040,.2073,.0890,.2748,.0804,.0581,.0395
DTI,6,.3809,.0010,.1361,.0285,.2265,.0265,.0186,.0106,.3830,.0010,.1366,.0287,.2231,.0325,.0216,.0107
DTI,7,.3801,.0003,.1187,.0133,.2143,.0133,.0094,.0028,.3823,.0003,.1187,.0137,.2102,.0126,.0126,.0029
"""
_REGIONS = ("ICLP-QR 1.01", "ICLP-QR 1.05", "FRL", "Bernstein 10", "Bernstein 20")
_TABLE_3 = """
Eastern Africa,1.685,10.507,5.249,7.549,5.252,7.881,3.823,12.243,2.400,11.896
Middle Africa,1.122,.451,5.281,.410,4.870,2.152,3.969,.313,2.090,.327
Northern Africa,2.398,.680,8.873,.656,3.991,1.807,11.315,.546,5.710,.646
Southern Africa,2.487,1.491,6.427,.919,2.990,1.809,3.964,.666,2.395,.763
Western Africa,1.588,13.699,5.775,9.216,5.752,11.482,4.347,15.649,2.609,15.493
Central Asia,5.804,2.715,11.829,1.547,7.319,3.739,13.163,1.346,8.116,1.808
Eastern Asia,3.551,4.414,13.446,6.872,3.900,6.958,15.878,14.110,8.162,9.175
Southern Asia,2.040,2.267,8.619,3.737,2.968,2.962,10.044,8.099,4.962,4.888
South-Eastern Asia,2.259,1.871,9.498,3.565,2.566,2.323,10.428,8.328,5.157,4.778
Western Asia,2.195,.585,8.689,.624,3.768,2.005,9.380,.510,4.640,.578
Eastern Europe,3.990,3.658,13.501,4.924,4.817,5.762,15.542,9.356,8.438,6.414
Northern Europe,7.318,1.626,19.087,1.187,7.174,1.493,22.846,1.218,13.339,1.304
Southern Europe,7.457,.977,21.076,.931,7.137,1.083,27.500,.852,15.873,.927
Western Europe,6.819,2.184,19.959,2.782,6.445,3.417,25.606,5.375,14.760,3.965
Caribbean,6.453,2.890,11.247,2.022,5.981,3.634,10.714,1.580,7.231,2.296
Central America,1.636,.548,7.777,.685,1.146,.537,5.637,.480,2.616,.448
South America,2.244,2.498,9.461,4.096,2.886,3.276,9.294,6.744,4.700,4.333
Northern America,2.205,1.734,10.605,2.792,1.537,2.297,10.028,5.546,4.746,3.153
Australia/New Zealand,23.525,11.299,29.495,5.040,22.782,8.189,28.339,5.053,23.983,7.582
"""


def table_1() -> Table:
    """Read seconds for 100 paths, a row for each kernel and number of points."""
    return [
        {name: cell if name == "kernel" else float(cell) for name, cell in row.items()}
        for row in csv.DictReader(io.StringIO(_TABLE_1))
    ]


def table_2() -> Table:
    """Read mean squared distances to the sample mean, a row for each data set, kernel and ε."""
    rows: list[Row] = []
    for data, budget, *cells in csv.reader(_TABLE_2.split()):
        for nu, of_kernel in ((1.5, cells[:8]), (2.5, cells[8:])):
            place: Row = {"data": data, "nu": nu, "printed_epsilon": budget}
            rows.append({**place, **_pairs(_HEADER, of_kernel)})
    return rows


def table_3() -> Table:
    """Read mean squared errors of densities of age at death at ε = 1, a row for each region."""
    return [
        {"region": region, **_pairs(_REGIONS, cells)}
        for region, *cells in csv.reader(_TABLE_3.strip().splitlines())
    ]


def _pairs(names: tuple[str, ...], cells: list[str]) -> dict[str, Value]:
    """Read value and standard error under every name."""
    row: dict[str, Value] = {}
    for name, value, se in zip(names, cells[::2], cells[1::2], strict=True):
        row |= {name: float(value), f"{name}_se": round(float(se) / 1000, 7)}
    return row
