import LinuxPrimitives

/// How many damaged inputs each parser of checks is given: CHECK_MUTATIONS, or 100,000.
package enum MutationCount {
    package static let value = EnvironmentVariable.value(of: "CHECK_MUTATIONS").flatMap(Int.init) ?? 100_000
}
