// Waits until the network can be reached, then becomes the command.
//
// usage: WaitForNetwork SECONDS COMMAND [ARGUMENT...]
//
// With 0 seconds it waits without limit. When the time is up it ends with status 75 (EX_TEMPFAIL) and runs nothing.

import Glibc
import NetworkReachability

/// Whether the network is there, or comes within `limit`; without a limit this returns only when it has come.
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

/// Becomes `command`; returns only if that fails.
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
