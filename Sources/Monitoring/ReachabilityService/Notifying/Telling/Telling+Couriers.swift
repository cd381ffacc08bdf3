import Dispatch
import LinuxSupport
import ReachabilityLedger

extension Telling {
    /// What couriers work with.
    var office: Courier.Office {
        Courier.Office(
            letters: { [weak self] courier, repeats in self?.letters(for: courier, repeats: repeats) ?? [] },
            tries: { [weak self] courier, letters in
                self?.state.withLock { state in
                    for letter in letters { state.book.tries(letter, by: courier) }
                }
            },
            done: { [weak self] courier, letters, failure in self?.done(courier, letters, failure) },
            postponed: { [weak self] courier, failure in
                self?.count(courier, failure, isFinal: false)
            },
            environment: environment,
            clock: source.clock
        )
    }

    private func letters(for courier: String, repeats: Bool) -> [Notification] {
        let (now, undecided) = (source.now(), source.undecided())
        return state.withLock { state in
            guard let notifier = state.couriers[courier]?.notifier else { return [] }
            return state.book.incidents.compactMap { incident in
                let next = incident.next(for: courier, of: notifier, at: now)
                // An incident that is over by now is told once, with its end.
                if next?.event == .began, state.book.isUndecided(incident, undecided) { return nil }
                return next ?? (repeats ? incident.standing(for: courier, of: notifier, at: now) : nil)
            }
        }
    }

    private func done(_ courier: String, _ letters: [Notification], _ failure: DeliveryFailure?) {
        state.withLock { state in
            for letter in letters { state.book.told(letter, by: courier) }
        }
        // Before anything else is told: who is killed now tells it only once.
        queue.sync { write() }
        count(courier, failure, isFinal: true)
        schedule()
    }
}
