import CLinux
package import LinuxSupport

/// A filter of an event socket that drops messages about routes to destinations that are not watched, and about neighbours that change no
/// route.
///
/// A classic BPF program. It passes all messages except those about routes and neighbours. Of these it passes routes of any table whose
/// destination overlaps a watched prefix, default routes, IPv6 neighbours that fail, routers that answer, and messages that it cannot read.
/// Any other route costs the listener neither a wakeup nor space in the socket's buffer.
///
/// If the program is longer than the kernel permits, prefixes are widened: the socket receives more than necessary, never less. The
/// listener uses an `AddressTrie` to find the targets of a route.
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
    ///   - prefixes: The watched destinations: addresses of hosts, or more if the answer depends on more. IPv4 addresses
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
                // The rest is not worth another round.
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

/// Writes the program of a `RouteFilter`.
///
/// A route is an interval of addresses: the first is its destination, the last has ones where the prefix ends. So is a
/// watched prefix. Two such intervals are apart, or one lies within the other. The program keeps both ends of the route,
/// word by word, and `RouteFilterWriter+Search` looks the first one up among the watched prefixes.
///
/// All of it is written from its end; see `FilterAssembler`.
struct RouteFilterWriter {
    /// Words of memory.
    enum Slot {
        /// Word `level` of the route's first address.
        static func first(_ level: Int) -> UInt32 { UInt32(level) }
        /// Word `level` of its last address.
        static func last(_ level: Int) -> UInt32 { UInt32(4 + level) }
        /// Word `level` of RTA_DST as it came.
        static func raw(_ level: Int) -> UInt32 { UInt32(8 + level) }
    }

    private enum Offset {
        static let kind = UInt32(4)
        static let family = UInt32(16)
        static let length = UInt32(17)
        /// Of `ndmsg`.
        static let neighbourState = UInt32(24)
        static let neighbourFlags = UInt32(26)
        /// `nlmsghdr` and `rtmsg` come before the attributes.
        static let attributes = UInt32(MemoryLayout<nlmsghdr>.size + MemoryLayout<rtmsg>.size)
    }

    var assembler = FilterAssembler()
    let drop: FilterAssembler.Label
    let accept: FilterAssembler.Label
    /// `compare[level]` goes on with A as word `level` of the first address and X as the only word that would do.
    var compare: [FilterAssembler.Label] = []
    /// The same, but A is loaded there.
    var loadAndCompare: [FilterAssembler.Label] = []

    static func program(for watched: PrefixCover) -> [FilterInstruction] {
        var writer = RouteFilterWriter()
        let families = AddressFamily.allCases.map { family in
            let prefixes = watched.prefixes(of: family)
            // Words that no watched prefix has need not be compared.
            let words = prefixes.isEmpty ? 0 : max(1, ((prefixes.map(\.length).max() ?? 0) + 31) / 32)
            return (family, prefixes, words)
        }
        writer.writeComparisons(levels: families.map(\.2).max() ?? 0)
        var start = writer.accept
        for (family, prefixes, words) in families {
            let search = writer.writeSearch(prefixes, level: 0)
            let reading = writer.writeReading(of: family, words: words, then: search)
            start = writer.assembler.branch(.equal, .constant(UInt32(family.rawValue)), then: reading, else: start)
        }
        writer.assembler.jump(to: start)
        writer.writeHead()
        return writer.assembler.program
    }

    private init() {
        drop = assembler.write(.drop)
        accept = assembler.write(.accept)
    }

    /// Distinguishes routes and neighbours from other messages, and continues with A as the family of a route.
    private mutating func writeHead() {
        let route = assembler.write(.load(.byte, at: Offset.family))
        let neighbour = writeNeighbours()
        var other = assembler.branch(.equal, .wire(UInt16(RTM_DELNEIGH)), then: neighbour, else: accept)
        other = assembler.branch(.equal, .wire(UInt16(RTM_NEWNEIGH)), then: neighbour, else: other)
        other = assembler.branch(.equal, .wire(UInt16(RTM_DELROUTE)), then: route, else: other)
        assembler.branch(.equal, .wire(UInt16(RTM_NEWROUTE)), then: route, else: other)
        let whole = assembler.write(.load(.half, at: Offset.kind))
        // Messages that are too short for a route pass.
        assembler.branch(.greaterOrEqual, .constant(Offset.attributes), then: whole, else: accept)
        assembler.write(.loadLength)
    }

    /// Passes what `Neighbour.mayChangeRoutes` says may change a route.
    private mutating func writeNeighbours() -> FilterAssembler.Label {
        let router = UInt32(NTF_ROUTER)
        assembler.branch(.equal, .constant(router), then: accept, else: drop)
        let flags = assembler.write(
            .load(.byte, at: Offset.neighbourFlags),
            .calculate(.and, .constant(router))
        )
        var next = assembler.branch(.equal, .wire(UInt16(NUD_STALE)), then: flags, else: drop)
        next = assembler.branch(.equal, .wire(UInt16(NUD_REACHABLE)), then: flags, else: next)
        assembler.branch(.equal, .wire(UInt16(NUD_FAILED)), then: accept, else: next)
        let state = assembler.write(.load(.half, at: Offset.neighbourState))
        assembler.branch(.equal, .constant(UInt32(AddressFamily.ipv6.rawValue)), then: state, else: drop)
        return assembler.write(.load(.byte, at: Offset.family))
    }

    /// Reads the prefix of a route. A default route passes, and so does one that is not as it should be.
    private mutating func writeReading(
        of family: AddressFamily,
        words: Int,
        then search: FilterAssembler.Label
    ) -> FilterAssembler.Label {
        var next = assembler.jump(to: search)
        for level in (0..<words).reversed() { next = writeEnds(level) }
        // X is where the attribute begins.
        for level in (0..<words).reversed() {
            next = assembler.write(.loadIndexed(.word, at: UInt32(4 + 4 * level)), .store(Slot.raw(level)))
        }
        let size = UInt16(MemoryLayout<rtattr>.size + family.byteCount)
        assembler.branch(.equal, .wire(size), then: next, else: accept)
        next = assembler.write(.moveToIndex, .loadIndexed(.half, at: 0))
        assembler.branch(.equal, .constant(0), then: accept, else: next)
        next = assembler.write(
            .loadIndexConstant(UInt32(RTA_DST.rawValue)),
            .loadConstant(Offset.attributes),
            .findAttribute
        )
        next = assembler.branch(.greater, .constant(UInt32(family.bitCount)), then: accept, else: next)
        assembler.branch(.equal, .constant(0), then: accept, else: next)
        return assembler.write(.load(.byte, at: Offset.length))
    }

    /// Works out one word of the route's first and last address. Goes on with what was written last.
    private mutating func writeEnds(_ level: Int) -> FilterAssembler.Label {
        let (start, end) = (UInt32(32 * level), UInt32(32 * level + 32))
        // A is the mask.
        let store = assembler.write(
            .moveToIndex,
            .loadMemory(Slot.raw(level)),
            .calculate(.and, .index),
            .store(Slot.first(level)),
            .moveFromIndex,
            .calculate(.xor, .constant(.max)),
            .loadIndexMemory(Slot.first(level)),
            .calculate(.or, .index),
            .store(Slot.last(level))
        )
        let whole = assembler.write(.loadConstant(.max))
        assembler.jump(to: store)
        // The shift is 1 to 31: wider shifts mean different things to different processors.
        let partial = assembler.write(
            .negate,
            .calculate(.add, .constant(end)),
            .moveToIndex,
            .loadConstant(.max),
            .calculate(.shiftLeft, .index)
        )
        assembler.jump(to: store)
        let none = assembler.write(.loadConstant(0))
        let short = assembler.branch(.greater, .constant(start), then: partial, else: none)
        assembler.branch(.greaterOrEqual, .constant(end), then: whole, else: short)
        return assembler.write(.load(.byte, at: Offset.length))
    }
}

extension FilterInstruction.Operand {
    /// A half word in the machine's order, as the kernel writes it and a filter reads it.
    fileprivate static func wire(_ value: UInt16) -> FilterInstruction.Operand {
        .constant(UInt32(value.bigEndian))
    }
}

/// Looks a route up among the watched prefixes of its family, one word after the other.
///
/// Within a word, the prefixes are intervals side by side. A tree of comparisons finds the first one that does not end before
/// the route begins: the route overlaps it, if that also does not begin after the route ends, or overlaps none. Where a
/// prefix is longer than the word and the route begins with the same word, the next word decides. Should the route end in
/// this one, its next word is everything, and passes there.
extension RouteFilterWriter {
    /// Prefixes that have a word in common, or one prefix that ends in it.
    private struct Entry {
        let low: UInt32
        let high: UInt32
        /// What goes on beyond this word.
        let rest: ArraySlice<AddressPrefix>
    }

    /// What all levels share.
    mutating func writeComparisons(levels: Int) {
        for level in 0..<levels {
            assembler.branch(.greaterOrEqual, .index, then: accept, else: drop)
            let last = assembler.write(.loadMemory(Slot.last(level)))
            compare.append(assembler.branch(.greater, .index, then: drop, else: last))
            loadAndCompare.append(assembler.write(.loadMemory(Slot.first(level))))
        }
    }

    /// Goes on at `accept` or `drop`, whatever A and X are.
    ///
    /// - Parameter prefixes: in order, apart from each other, and the same in all words before.
    mutating func writeSearch(_ prefixes: ArraySlice<AddressPrefix>, level: Int) -> FilterAssembler.Label {
        let entries = entries(prefixes, level)
        guard let first = entries.first else { return drop }
        if entries.count == 1, first.rest.isEmpty, first.low == first.high {
            assembler.jump(to: loadAndCompare[level])
            return assembler.write(.loadIndexConstant(first.low))
        }
        let tree = writeTree(entries[...], level: level, isLast: true)
        if tree == accept { return accept }
        assembler.jump(to: tree)
        return assembler.write(.loadMemory(Slot.first(level)))
    }

    /// - Parameter isLast: whether the route may also begin behind all entries. It begins behind what is before them.
    private mutating func writeTree(
        _ entries: ArraySlice<Entry>,
        level: Int,
        isLast: Bool
    ) -> FilterAssembler.Label {
        if entries.count == 1, let entry = entries.first { return write(entry, level: level, isLast: isLast) }
        let middle = entries.startIndex + entries.count / 2
        let right = writeTree(entries[middle...], level: level, isLast: isLast)
        let left = writeTree(entries[..<middle], level: level, isLast: false)
        return assembler.branch(.greater, .constant(entries[middle - 1].high), then: right, else: left)
    }

    private mutating func write(_ entry: Entry, level: Int, isLast: Bool) -> FilterAssembler.Label {
        guard entry.rest.isEmpty else {
            let next = writeSearch(entry.rest, level: level + 1)
            assembler.branch(.equal, .index, then: next, else: compare[level])
            return assembler.write(.loadIndexConstant(entry.low))
        }
        var start = accept
        if entry.low > 0 {
            assembler.branch(.greaterOrEqual, .constant(entry.low), then: accept, else: drop)
            start = assembler.write(.loadMemory(Slot.last(level)))
        }
        guard isLast, entry.high < .max else { return start }
        return assembler.branch(.greater, .constant(entry.high), then: drop, else: start)
    }

    private func entries(_ prefixes: ArraySlice<AddressPrefix>, _ level: Int) -> [Entry] {
        var entries: [Entry] = []
        var rest = prefixes
        while let first = rest.first {
            let word = first.word(level)
            let bits = first.length - 32 * level
            guard bits > 32 else {
                entries.append(Entry(low: word, high: word | (bits == 32 ? 0 : .max >> UInt32(bits)), rest: []))
                rest = rest.dropFirst()
                continue
            }
            let group = rest.prefix { $0.word(level) == word }
            entries.append(Entry(low: word, high: word, rest: group))
            rest = rest.dropFirst(group.count)
        }
        return entries
    }
}

extension AddressPrefix {
    /// Word 0 is the first on the wire, the only one of IPv4.
    fileprivate func word(_ level: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: leadingBits >> UInt128(96 - 32 * level))
    }
}
