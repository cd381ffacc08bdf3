import Dispatch
import Logging
import Netlink

/// Targets whose status changes all the time. All of it runs on the queue.
extension PathMonitor {
    /// The path as it is told when flapping has begun, or ended, with it.
    func flappingChanged(_ path: NetworkPath, of record: TargetRecord) -> NetworkPath {
        let path = record.noted(Evaluation(path: path)).path
        logger?.info(
            path.isFlapping ? "flapping" : "flapping no more",
            metadata: ["target": "\(record.target)", "changes": "\(record.flapCount)"]
        )
        return path
    }

    /// Looks again when the status will not have changed for long enough: nothing else would tell of that.
    func scheduleFlappingEnd(of record: TargetRecord) {
        guard let end = record.flappingEnd else { return }
        let delay = end - surroundings.clock.monotonic
        let timer = surroundings.clock.schedule(after: delay, on: queue) { [weak self, weak record] in
            guard let self, let record else { return }
            record.waitForFlappingEnd(nil)
            look(at: [record], after: EventBurst())
        }
        record.waitForFlappingEnd(timer)
    }
}
