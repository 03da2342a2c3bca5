// The host of samples/plugins upgrades its plug-in eight times, and refuses one version, while four threads send requests. The source is the sample's.
// mcs: samples/plugins/Plugins.cs
// timeout: 180
// expect: one: upgraded
// expect: two: upgraded
// expect: the second answers
// expect: bad: refused: startIndex cannot be larger than length of string
// expect: three: upgraded
// expect: two again: upgraded
// expect: three: upgraded
// expect: two again: upgraded
// expect: three: upgraded
// expect: two again: upgraded
// expect: three: upgraded
// expect: good day me
// expect: no request was lost
