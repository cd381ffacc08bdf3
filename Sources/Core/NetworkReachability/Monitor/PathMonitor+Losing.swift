import LinuxPrimitives
import Netlink

/// Before a loss is told. What was removed may be replaced in a moment by the process that removed it, as `ip -batch` and
/// every daemon that changes a route do; then nothing was lost, and nothing is told.
extension PathMonitor {
    /// Looks again for as long as somebody would hear of a loss and its replacement may still come. Runs on the queue.
    func reconsider(
        _ evaluations: [Evaluation],
        of records: [TargetRecord],
        after burst: EventBurst
    ) -> [Evaluation] {
        guard burst.mayBeReplaced else { return evaluations }
        var evaluations = evaluations
        var remover = burst.remover
        var patience = MonitorTiming.pauseLimit
        while wouldLose(records, evaluations), let more = nextBurst(from: remover, &patience) {
            if more.remover != 0 { remover = more.remover }
            let here = Set(records.map(ObjectIdentifier.init))
            let concerned = note(more)
            if concerned.isEmpty { continue }
            let others = concerned.filter { !here.contains(ObjectIdentifier($0)) }
            if !others.isEmpty { lookLater(at: others, after: more) }
            evaluations = self.evaluations(of: records, .quick)
            // What put something in its place may be among the messages that were lost: what is so now is told.
            if more.isIncomplete { break }
        }
        return evaluations
    }

    private func wouldLose(_ records: [TargetRecord], _ evaluations: [Evaluation]) -> Bool {
        zip(records, evaluations).contains { record, evaluation in
            record.wouldLose(by: evaluation.path)
        }
    }

    /// The next burst, waited for while whoever removed something is at work, and at most for `patience` pauses.
    private func nextBurst(from remover: UInt32, _ patience: inout Int) -> EventBurst? {
        guard let connection = session.withLock({ $0.listeningConnection }) else { return nil }
        while patience > 0 {
            patience -= 1
            let activity = connection.activity(ofPort: remover)
            let pause = activity == .atWork ? MonitorTiming.workPause : .zero
            // Asked for after the activity: what a process did before it went to rest is there.
            if let burst = connection.nextBurst(within: pause) { return burst }
            switch activity {
            case .atWork: continue
            case .atRest: return nil
            case .unknown: return burstOfUnknown(connection)
            }
        }
        return nil
    }

    /// Waits for another burst, longer when the machine is busy.
    private func burstOfUnknown(_ connection: any KernelConnection) -> EventBurst? {
        let clock = surroundings.clock
        let before = clock.monotonic
        if let burst = connection.nextBurst(within: MonitorTiming.lossPause) { return burst }
        let isBusy = clock.monotonic - before > MonitorTiming.lossPause * 2
        return isBusy ? connection.nextBurst(within: MonitorTiming.busyLossPause) : connection.nextBurst(within: .zero)
    }
}
