// The crawler of the samples finds all pages of its site. The source is the sample's.
// mcs: samples/crawler/Crawler.cs
// args: 60 5
// grafts:
// expect: 60 pages
