import Dispatch
import NetworkReachability
import Synchronization

/// Threads that do everything a program can do with managers, as fast as they can, until they are told to end.
final class SurvivalStress: Sendable {
    private let isOver = Atomic(false)
    private let delivered = Atomic(0)

    var deliveries: Int { delivered.load(ordering: .relaxed) }

    func end() {
        isOver.store(true, ordering: .relaxed)
    }

    /// Runs on a thread of its own.
    func run(_ managers: [NetworkReachabilityManager], from start: Int) {
        let queue = DispatchQueue(label: "stress", target: .global())
        var round = start
        while !isOver.load(ordering: .relaxed) {
            let manager = managers[round % managers.count]
            manager.startListening(onQueue: queue) { [weak self] _ in self?.delivered.add(1, ordering: .relaxed) }
            if round % 3 == 0 { _ = manager.status }
            let token = manager.addListener(onQueue: queue) { [weak self] _ in
                self?.delivered.add(1, ordering: .relaxed)
            }
            if round % 2 == 0 { manager.stopListening() }
            token.cancel()
            round += 1
        }
        // Whoever is done has not stopped what the others may still need.
        queue.sync {}
    }
}
