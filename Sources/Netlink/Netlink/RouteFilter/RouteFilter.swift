package import LinuxSupport

/// What the kernel is to leave out of an event socket: messages of routes to elsewhere, and of neighbours that
/// change no route.
///
/// A classic BPF program that passes every message but those of routes and neighbours, and of those all that may change a
/// way to what is watched: routes of any table whose destination overlaps a watched prefix, default routes, IPv6
/// neighbours that fail and routers that answer, and whatever it cannot read. A route elsewhere then costs its listener neither a wakeup nor space in the socket's buffer.
///
/// Where the program would be longer than the kernel takes, prefixes are widened until it is not: more is heard than is
/// needed, never less. Whoever listens asks an `AddressTrie` what a route is about.
package struct RouteFilter: Hashable, Sendable {
    /// BPF_MAXINSNS of `<linux/bpf_common.h>`.
    package static let instructionLimit = 4096

    /// Whether only routes that overlap what is watched pass; false when prefixes had to be widened.
    package let isExact: Bool

    package let program: [FilterInstruction]
    private let watched: PrefixCover

    /// How long the program is.
    package var instructionCount: Int { program.count }

    /// - Parameters:
    ///   - prefixes: what is watched: host addresses, or more than one where the answer depends on more. IPv4 addresses
    ///     stand as such, not mapped to IPv6.
    ///   - limit: how long the program may be. Below 200 instructions, every route may pass.
    package init(watching prefixes: some Sequence<AddressPrefix>, instructionLimit limit: Int = Self.instructionLimit) {
        self.init(watching: PrefixCover(prefixes), instructionLimit: limit)
    }

    private init(watching watched: PrefixCover, instructionLimit limit: Int) {
        self.watched = watched
        let program = RouteFilterWriter.program(for: watched)
        isExact = program.count <= limit
        self.program = isExact ? program : Self.widened(watched, to: limit)
    }

    /// The same with a shorter program, for a kernel that has no memory for this one; nil when there is no point in that.
    package var halved: RouteFilter? {
        let limit = program.count / 2
        return limit < 128 ? nil : RouteFilter(watching: watched, instructionLimit: limit)
    }

    /// The program of about the narrowest cover that fits.
    private static func widened(_ watched: PrefixCover, to limit: Int) -> [FilterInstruction] {
        let subnets = watched.ofSubnets
        var fitting = [FilterInstruction.accept]
        var low = 1
        // No prefix takes less than two instructions.
        var high = min(subnets.prefixes.count, limit / 2)
        var guess = high
        while low <= high {
            let program = RouteFilterWriter.program(for: subnets.widened(toCount: guess))
            if program.count <= limit {
                fitting = program
                // What is left is not worth another round.
                if program.count > limit - limit / 16 { break }
                low = guess + 1
            } else {
                high = guess - 1
            }
            // Length grows about as the count does.
            guess = min(max(guess * (limit - limit / 32) / program.count, low), high)
        }
        return fitting
    }
}

extension RouteFilter: CustomStringConvertible {
    /// For logs, for example `12 prefixes in 98 instructions`.
    package var description: String {
        "\(watched.prefixes.count) prefixes in \(program.count) instructions" + (isExact ? "" : ", widened")
    }
}
