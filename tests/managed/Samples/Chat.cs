// In the chat of the samples every client hears what every client says. The source is the sample's.
// mcs: samples/chat/Chat.cs
// args: test 40
// grafts:
// expect: 40 clients heard 1600 lines
