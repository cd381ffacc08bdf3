// Prints the status of a host as an asynchronous sequence: first what it is now, then each change.
//
// usage: AsyncStatuses [HOST]
//
// The loop has a subscription of its own, which ends with the loop. A slow body misses what came and went meanwhile; it is
// never given an outdated status.

import Glibc
import NetworkReachability

guard let manager = CommandLine.arguments.dropFirst().first.map(NetworkReachabilityManager.init(host:)) ?? .default
else {
    print("usage: AsyncStatuses [HOST]")
    exit(64)
}

for await status in manager.statuses {
    print(status.localizedDescription)
    // In a pipe, standard output would be held back.
    fflush(nil)
}
