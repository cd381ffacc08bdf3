import LinuxSupport
package import NetworkReachability
import ReachabilityChecks
import ReachabilityLedger

extension MonitoringService {
    /// Adds a target and observes its path with a manager. An existing target with the same name is replaced.
    package func insert(_ target: ServiceTarget, _ manager: NetworkReachabilityManager) {
        let name = target.name
        setChecks(of: target)
        let path = manager.path(waitingForName: .zero)
        let watch = state.withLock { state in
            if state.targets.updateValue(target, forKey: name) == nil { state.order.append(name) }
            return state.pushes.removeValue(forKey: name)
        }
        watch?.timer?.cancel()
        record { state, now in
            // A target with checks is up only after a check has succeeded.
            let isPending = state.checks[name] != nil && path.mayBeChecked
            let observation = Observation(path: isPending ? .unknown(reason: "undecided") : .init(path))
            return openAccount(name, observation, interface: path.interface?.name, &state, at: now)
        }
        let observer = PathObserver(manager) { [weak self] change in self?.observed(change, of: target) }
        let previous = state.withLock { $0.observers.updateValue(observer, forKey: name) }
        withExtendedLifetime(previous) {}
        explain(name)
    }

    /// Adds a target whose path is not observed: a sender of pushes, or a paused target. An existing target with the same name is
    /// replaced.
    private func insertWithoutPath(_ target: ServiceTarget) {
        let name = target.name
        let (observer, watch) = state.withLock { state in
            if state.targets.updateValue(target, forKey: name) == nil { state.order.append(name) }
            state.findings[name] = nil
            return (state.observers.removeValue(forKey: name), state.checks.removeValue(forKey: name))
        }
        withExtendedLifetime((observer, watch)) {}
        var timer: Cancellation?
        record { state, now in
            let before = state.pushes[name]
            let wasPaused = state.accounting.accounts[name]?.ledger.current.state.cause == .paused
            timer = before?.timer
            state.pushes[name] = target.push.map { settings in
                let since = wasPaused ? now : before?.since ?? now
                return PushWatch(
                    settings,
                    last: before?.last ?? earlierPushes[name],
                    isMissing: before == nil && missedPushes.contains(name),
                    since: since
                )
            }
            let pause = state.pause(of: name).map { Observation(path: .paused(reason: $0)) }
            let observation = pause ?? state.pushes[name]?.verdict(at: now).observation
            return openAccount(name, observation ?? Observation(path: .notObserved), &state, at: now)
        }
        timer?.cancel()
        followPush(name)
    }

    /// Opens the account of a new target. The account of a known one continues, except that a pause begins or ends.
    private func openAccount(
        _ name: String,
        _ observation: Observation,
        interface: String? = nil,
        _ state: inout State,
        at now: LedgerInstant
    ) -> [ServiceEvent] {
        guard let account = state.accounting.accounts[name] else {
            let interrupted = state.interrupted.removeValue(forKey: name)
            return state.accounting.open(
                name,
                observation,
                interface: interface,
                resuming: now - start <= Self.longestInterruption ? interrupted : nil,
                at: now
            )
        }
        let isPause = if case .paused = observation.path { true } else { false }
        guard isPause || account.ledger.current.state.cause == .paused else { return [] }
        return state.accounting.take(observation, of: name, at: now, now: now)
    }

    /// Replaces the targets. A target whose settings have changed keeps its account.
    ///
    /// - Throws: ``TargetError`` for the first target that cannot be monitored. Then no target is changed.
    package func apply(_ targets: [ServiceTarget]) throws(TargetError) {
        try turn.withLock { _ throws(TargetError) in try replaceTargets(targets) }
    }

    private func replaceTargets(_ targets: [ServiceTarget]) throws(TargetError) {
        let (known, paused) = state.withLock { ($0.targets, $0.paused) }
        var managers: [String: NetworkReachabilityManager] = [:]
        let changed = targets.filter { known[$0.name]?.path != $0.path }
        for target in changed where target.hasPath && !paused.contains(target.name) {
            do { managers[target.name] = try makeManager(target) } catch {
                throw TargetError(target: target.name, error: error)
            }
        }
        for name in known.keys where !targets.contains(where: { $0.name == name }) { remove(name) }
        for target in changed {
            if let manager = managers[target.name] { insert(target, manager) } else { insertWithoutPath(target) }
        }
        for target in targets {
            guard let before = known[target.name], before.path == target.path, before.checks != target.checks else {
                continue
            }
            changeChecks(of: target)
        }
        let notices = CheckNotices.of(targets, mayEcho: mayEcho)
        let order = targets.enumerated().sorted { ($0.element.order, $0.offset) < ($1.element.order, $1.offset) }
        state.withLock { state in
            state.notices = notices
            state.targets = Dictionary(targets.map { ($0.name, $0) }) { _, last in last }
            state.order = order.map(\.element.name)
        }
    }

    /// The error of a target that cannot be monitored.
    package struct TargetError: Error, Sendable {
        package let target: String
        package let error: NetworkReachabilityError
    }

    /// Removes a target. Its current interval ends.
    package func remove(_ name: String) {
        let (observer, checks, push) = state.withLock { state in
            state.targets[name] = nil
            state.paused.remove(name)
            state.order.removeAll { $0 == name }
            state.findings[name] = nil
            return (
                state.observers.removeValue(forKey: name), state.checks.removeValue(forKey: name),
                state.pushes.removeValue(forKey: name)
            )
        }
        push?.timer?.cancel()
        withExtendedLifetime((observer, checks)) {}
        record { state, now in state.accounting.removeTarget(name, now: now) }
    }

    // MARK: Pauses

    /// The result of a request to pause or to continue a target.
    package enum PauseResult: Sendable {
        case done
        case unknownTarget
        /// The configuration disables the target.
        case disabled
        /// The path of the target cannot be observed.
        case failed(NetworkReachabilityError)
    }

    /// Pauses a target: no packet is sent, its path is not observed, and its time is `unknown`. The pause survives a restart.
    package func pause(_ name: String) -> PauseResult { turn.withLock { _ in pauseNow(name) } }

    private func pauseNow(_ name: String) -> PauseResult {
        let (target, isPaused) = state.withLock { ($0.targets[name], $0.paused.contains(name)) }
        guard let target else { return .unknownTarget }
        guard target.isEnabled else { return .disabled }
        if isPaused { return .done }
        state.withLock { _ = $0.paused.insert(name) }
        insertWithoutPath(target)
        return .done
    }

    /// Ends the pause of a target.
    package func continueTarget(_ name: String) -> PauseResult { turn.withLock { _ in continueNow(name) } }

    private func continueNow(_ name: String) -> PauseResult {
        let (target, isPaused) = state.withLock { ($0.targets[name], $0.paused.contains(name)) }
        guard let target else { return .unknownTarget }
        guard target.isEnabled else { return .disabled }
        guard isPaused else { return .done }
        do throws(NetworkReachabilityError) {
            let manager = target.hasPath ? try makeManager(target) : nil
            state.withLock { _ = $0.paused.remove(name) }
            if let manager { insert(target, manager) } else { insertWithoutPath(target) }
            return .done
        } catch {
            return .failed(error)
        }
    }
}

extension ServiceTarget {
    /// A Boolean value that indicates whether the kernel's path to the target is observed. False for a disabled target and for one that
    /// sends pushes. A pause does not change the value.
    fileprivate var hasPath: Bool { isEnabled && push == nil }
}
