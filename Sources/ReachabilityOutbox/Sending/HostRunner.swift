import Logging
import ReachabilityRetry

/// Sends one host's requests, one after the other.
struct HostRunner: Sendable {
    /// Why it ended.
    enum End: Sendable {
        /// There is nothing for this host any more, or nothing now, or the task was cancelled.
        case idle
        /// The file cannot be read or written.
        case failed(OutboxError)
    }

    let host: String
    let store: OutboxStore
    let sender: any OutboxSender
    let watch: HostWatch
    let places: Places
    let report: @Sendable (OutboxEvent) -> Void

    private var options: OutboxOptions { store.options }

    /// Sends until there is nothing left, and waits for the network and for the server in between.
    func run() async -> End {
        var failures = 0
        do throws(OutboxError) {
            while await watch.untilReachable() {
                switch try await sendNext() {
                case nil: return .idle
                case .delivered?: failures = 0
                case .postponed?:
                    failures += 1
                    let delay = options.backoff.longestWait(beforeRetry: failures) * options.random()
                    options.logger?.debug("waiting", metadata: ["host": "\(host)", "delay": "\(delay)"])
                    await watch.pause(delay)
                case .notBefore(let time)?: await options.clock.sleep(for: .milliseconds(time - store.now))
                }
            }
            return .idle
        } catch {
            return .failed(error)
        }
    }

    /// Sends what can be sent now, until the host is not reachable or the server does not take a request.
    func flush() async -> End {
        do throws(OutboxError) {
            while !Task.isCancelled, await watch.isReachable(), try await sendNext() == .delivered {}
            return .idle
        } catch {
            return .failed(error)
        }
    }

    private enum Step: Equatable {
        /// It is out of the way, one way or the other.
        case delivered
        case postponed
        case notBefore(Int64)
    }

    private func sendNext() async throws(OutboxError) -> Step? {
        guard await places.take() else { return nil }
        defer { places.giveBack() }
        let delivery: OutboxDelivery
        switch try await store.claim(host) {
        case .nothing: return nil
        case .notBefore(let time): return .notBefore(time)
        case .delivery(let next): delivery = next
        }
        let entry = delivery.entry
        options.logger?.debug("sending", metadata: ["request": "\(entry)"])
        var result = await Drain.run(for: options.drainLimit, clock: options.clock) { [sender] in
            await sender.send(delivery)
        }
        if case .retry = result, let limit = options.maximumAttempts, entry.attempts >= limit {
            result = .rejected(reason: "gave up after \(entry.attempts) attempts")
        }
        try await store.finish(entry, result)
        return tell(entry, result)
    }

    private func tell(_ entry: OutboxEntry, _ result: OutboxResult) -> Step {
        switch result {
        case .delivered:
            options.logger?.info("delivered", metadata: ["request": "\(entry)"])
            report(.delivered(entry))
            return .delivered
        case .rejected(let reason):
            options.logger?.warning("given up", metadata: ["request": "\(entry)", "reason": "\(reason)"])
            report(.rejected(entry, reason: reason))
            return .delivered
        case .retry:
            options.logger?.info("postponed", metadata: ["request": "\(entry)"])
            report(.postponed(entry))
            return .postponed
        }
    }
}
