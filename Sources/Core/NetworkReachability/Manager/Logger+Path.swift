import Logging

extension Logger {
    /// Says what a target's listeners are told, and why.
    func log(_ path: NetworkPath, of target: Target) {
        info(
            "\(path.status)",
            metadata: [
                "target": "\(target)", "reason": "\(path.reason?.description ?? "-")",
                "interface": "\(path.interface?.description ?? "-")", "generation": "\(path.generation)",
            ]
        )
    }
}
