// Prints the status of a host with an asynchronous sequence: first the current status, then each change.
//
// usage: AsyncStatuses [HOST]
//
// The loop has its own subscription, which ends with the loop. A slow body misses short changes, but never receives an
// outdated status.

import Glibc
import NetworkReachability

guard let manager = CommandLine.arguments.dropFirst().first.map(NetworkReachabilityManager.init(host:)) ?? .default
else {
    print("usage: AsyncStatuses [HOST]")
    exit(64)
}

for await status in manager.statuses {
    print(status.localizedDescription)
    // Standard output is buffered if it is a pipe.
    fflush(nil)
}
