import LinuxSupport

/// The number of damaged inputs for each parser of untrusted data: the value of CHECK_MUTATIONS, or 5,000.
package enum MutationCount {
    package static let value = EnvironmentVariable.value(of: "CHECK_MUTATIONS").flatMap(Int.init) ?? 5_000
}

/// Yields in every 256th round of a long loop, because there are only as many threads for tasks as processors.
package func takeTurns(in round: Int) async {
    if round % 256 == 0 { await Task.yield() }
}
