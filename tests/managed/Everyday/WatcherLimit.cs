// A user may have only so many instances of inotify: further watchers poll.
// expect: all of them watch
using System;
using System.Collections.Generic;
using System.IO;

class WatcherLimit {
    static int Main () {
        int limit;
        if (!int.TryParse (File.ReadAllText ("/proc/sys/fs/inotify/max_user_instances"), out limit) || limit > 300)
            limit = 20;
        string directory = Path.Combine (Path.GetTempPath (), "vervet-watchers-" + System.Diagnostics.Process.GetCurrentProcess ().Id);
        Directory.CreateDirectory (directory);
        try {
            var watchers = new List<FileSystemWatcher> ();
            for (int i = 0; i < limit + 2; i++) {
                var watcher = new FileSystemWatcher (directory);
                watcher.EnableRaisingEvents = true;
                watchers.Add (watcher);
            }
            Console.WriteLine (watchers.TrueForAll (w => w.EnableRaisingEvents) ? "all of them watch" : "some do not watch");
            foreach (var watcher in watchers)
                watcher.Dispose ();
        } finally {
            Directory.Delete (directory, true);
        }
        return 0;
    }
}
