// A daemon that works while a host can be reached and pauses while it cannot.
//
// usage: Daemon [HOST]
//
// The listener runs on the daemon's own serial queue, so changes arrive in order. SIGTERM and SIGINT are handled on
// the same queue. After `stopListening()` on this queue, the listener is not called again.

import Dispatch
import Glibc
import Logging
import NetworkReachability
import Synchronization

let log = Logger(label: "daemon") { StreamLogHandler.standardError(label: $0) }

/// The work of the daemon, which depends on the network.
final class Worker: Sendable {
    private let isWorking = Mutex(false)

    func networkChanged(_ status: NetworkReachabilityStatus) {
        let hasChanged = isWorking.withLock { isWorking in
            defer { isWorking = status.isReachable }
            return isWorking != status.isReachable
        }
        if hasChanged { log.info("\(status.isReachable ? "working" : "pausing"): \(status)") }
    }

    func finish() {
        log.info("finished")
    }
}

/// A manager for the host of the first argument, or for the routes to a set of public addresses.
func makeManager() throws -> NetworkReachabilityManager {
    var options = NetworkReachabilityOptions()
    options.logger = log
    guard let host = CommandLine.arguments.dropFirst().first else {
        return try NetworkReachabilityManager(options: options)
    }
    return try NetworkReachabilityManager(host: host, options: options)
}

/// Runs `action` on `queue` after SIGTERM or SIGINT.
func onEnd(_ queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> [any DispatchSourceSignal] {
    [SIGTERM, SIGINT].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler(handler: action)
        source.activate()
        return source
    }
}

// These are global, so they exist as long as the process. Local ones could be released before `dispatchMain()`, because it
// never returns.
let manager: NetworkReachabilityManager
do {
    manager = try makeManager()
} catch {
    log.error("\(error)")
    exit(1)
}
let queue = DispatchQueue(label: "daemon", target: .global())
let worker = Worker()
manager.startListening(onQueue: queue) { [worker] in worker.networkChanged($0) }
let signals = onEnd(queue) { [manager, worker] in
    manager.stopListening()
    worker.finish()
    exit(0)
}
dispatchMain()
