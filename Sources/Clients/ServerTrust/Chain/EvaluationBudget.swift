import Dispatch
import LinuxSupport

/// How much one evaluation may still do. Who sends certificates decides how much there is to do, so there is an end to it, which
/// ``TrustRequirements`` sets; and a task that was cancelled does nothing more.
///
/// What is over the limit is refused: whoever gets an error from here passes it on.
final class EvaluationBudget: Sendable {
    /// What has been done.
    struct Work: Hashable, Sendable {
        /// Certificates tried as issuers of others.
        var steps = 0
        /// Signatures checked.
        var signatures = 0
        /// Names compared with constraints.
        var comparisons = 0
    }

    private let limits: TrustRequirements
    private let work = Locked(Work())

    init(_ limits: TrustRequirements) {
        self.limits = limits
    }

    var spent: Work { work.withLock { $0 } }

    /// Before a certificate is tried as the issuer of another.
    func spendStep() throws(TrustFailure) {
        try spend(1, \.steps, limit: limits.maximumPathSteps) { "more than \($0) certificates to try as issuers" }
    }

    /// Before a signature is checked.
    func spendSignature() throws(TrustFailure) {
        try spend(1, \.signatures, limit: limits.maximumSignatureChecks) { "more than \($0) signatures to check" }
    }

    /// Before so many names are compared with a constraint each.
    func spendComparisons(_ count: Int) throws(TrustFailure) {
        try spend(count, \.comparisons, limit: limits.maximumNameComparisons) {
            "more than \($0) comparisons of names with name constraints"
        }
    }

    private func spend(
        _ count: Int,
        _ kind: any WritableKeyPath<Work, Int> & Sendable,
        limit: Int,
        _ problem: (Int) -> String
    ) throws(TrustFailure) {
        guard !Task.isCancelled else { throw .cancelled }
        let isWithin = work.withLock { work in
            guard count <= limit - work[keyPath: kind] else { return false }
            work[keyPath: kind] += count
            return true
        }
        guard isWithin else { throw .tooComplex(problem(limit)) }
    }
}

/// Judges one server away from the threads of Swift's tasks, of which there are as few as processors: what a stranger sends may take its
/// time, and evaluators of users may block. For one task alone, so nobody waits for another's.
///
/// Source: SE-0417.
package final class JudgingExecutor: TaskExecutor {
    // A serial queue has a thread of its own while it has work.
    private let queue = DispatchQueue(label: "ServerTrust.judging")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
