package import Dispatch
package import LinuxPrimitives
import NetworkReachability

extension FakeResolver: HostResolver {
    package func localAddresses(of name: String) -> [NameLookup.Address] {
        let key = FakeResolver.key(name)
        return state.withLock { $0.localAddresses(key) }
    }

    package func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    ) {
        let key = FakeResolver.key(name)
        let answer: Answer? = state.withLock { state in
            state.questions[key, default: 0] += 1
            guard state.held.contains(key) else { return state.answer(key) }
            state.waiting[key, default: []].append(completion)
            return nil
        }
        guard let answer else { return }
        queue.async { completion(answer) }
    }

    package func watchConfiguration(
        on queue: DispatchQueue,
        _ changed: @escaping @Sendable () -> Void
    ) -> Cancellation? {
        let id = state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = { queue.async { changed() } }
            return state.nextWatcher
        }
        return Cancellation { [weak self] in _ = self?.state.withLock { $0.watchers.removeValue(forKey: id) } }
    }
}
