import LinuxPrimitives

/// How many damaged inputs each parser of checks is given: CHECK_MUTATIONS, or 100,000.
package enum MutationCount {
    package static let value = EnvironmentVariable.value(of: "CHECK_MUTATIONS").flatMap(Int.init) ?? 100_000
}

/// Lets other tests run now and then in a long loop: there are as many threads for tasks as processors, and no more.
package func takeTurns(in round: Int) async {
    if round % 256 == 0 { await Task.yield() }
}
