// Waits until the network is reachable, then executes the command.
//
// usage: WaitForNetwork SECONDS COMMAND [ARGUMENT...]
//
// With 0 seconds it waits without a limit. After a timeout it exits with status 75 (EX_TEMPFAIL).

import Glibc
import NetworkReachability

/// Returns whether the network is reachable or becomes reachable within `limit`. Without a limit it waits until it is.
func waitForNetwork(atMost limit: Duration?) async -> Bool {
    await withTaskGroup { group in
        group.addTask {
            guard let manager = NetworkReachabilityManager.default else { return false }
            for await status in manager.statuses where status.isReachable { return true }
            return false
        }
        if let limit {
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
        }
        defer { group.cancelAll() }
        return await group.next() ?? false
    }
}

/// Replaces the process by `command`. Returns only after a failure.
func become(_ command: [String]) {
    var arguments = command.map { strdup($0) } + [nil]
    execvp(command[0], &arguments)
}

let command = Array(CommandLine.arguments.dropFirst(2))
guard !command.isEmpty, let seconds = UInt32(CommandLine.arguments[1]) else {
    print("usage: WaitForNetwork SECONDS COMMAND [ARGUMENT...]")
    exit(64)
}
guard await waitForNetwork(atMost: seconds == 0 ? nil : .seconds(seconds)) else {
    print("no network after \(seconds) s")
    exit(75)
}
become(command)
perror(command[0])
exit(127)
