// A daemon that works while a host can be reached and pauses while it cannot.
//
// usage: Daemon [HOST]
//
// The listener runs on the daemon's own serial queue, so changes arrive in order. SIGTERM and SIGINT end it on the same
// queue: after `stopListening()` there the listener is not called again.

import Dispatch
import Glibc
import Logging
import NetworkReachability
import Synchronization

let log = Logger(label: "daemon") { StreamLogHandler.standardError(label: $0) }

/// What the daemon does.
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

/// Runs until SIGTERM or SIGINT.
func run() throws -> Never {
    var options = NetworkReachabilityOptions()
    options.logger = log
    let manager =
        if let host = CommandLine.arguments.dropFirst().first {
            try NetworkReachabilityManager(host: host, options: options)
        } else {
            try NetworkReachabilityManager(options: options)
        }

    let queue = DispatchQueue(label: "daemon", target: .global())
    let worker = Worker()
    manager.startListening(onQueue: queue) { worker.networkChanged($0) }

    let signals = [SIGTERM, SIGINT].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler {
            manager.stopListening()
            worker.finish()
            exit(0)
        }
        source.activate()
        return source
    }
    withExtendedLifetime((manager, signals)) { dispatchMain() }
}

do {
    try run()
} catch {
    log.error("\(error)")
    exit(1)
}
