import CLinux
package import LinuxSupport

/// A filter of an event socket. It drops messages about routes to destinations that are not watched, and about
/// neighbours that change no route.
///
/// The filter is a classic BPF program. Except for messages about routes and neighbours, it passes everything. Of those
/// it passes:
///
/// - routes of any table whose destination overlaps a watched prefix
/// - default routes
/// - IPv6 neighbours that fail, and routers that answer
/// - messages that it cannot decode
///
/// All other routes cost the listener neither a wake-up nor buffer space.
///
/// If the program exceeds the kernel's limit, prefixes are shortened. The socket then receives more than necessary,
/// never less. The listener determines the targets of a route itself.
package struct RouteFilter: Hashable, Sendable {
    /// The maximum number of instructions: BPF_MAXINSNS of `<linux/bpf_common.h>`.
    package static let instructionLimit = 4096

    /// A Boolean value that indicates whether only routes that overlap a watched prefix pass. False if prefixes had to
    /// be shortened.
    package let isExact: Bool

    package let program: [FilterInstruction]
    private let watched: PrefixCover

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - prefixes: The watched destinations: the addresses of hosts, or shorter prefixes. IPv4 addresses are not
    ///     mapped to IPv6.
    ///   - limit: The maximum number of instructions. Below 200, the filter may pass every route.
    package init(watching prefixes: some Sequence<AddressPrefix>, instructionLimit limit: Int = Self.instructionLimit) {
        self.init(watching: PrefixCover(prefixes), instructionLimit: limit)
    }

    private init(watching watched: PrefixCover, instructionLimit limit: Int) {
        self.watched = watched
        let program = RouteFilterWriter.program(for: watched)
        isExact = program.count <= limit
        self.program = isExact ? program : Self.widened(watched, to: limit)
    }

    /// The same filter with a shorter program, for a kernel with too little memory for this one; nil if the program is
    /// already short.
    package var halved: RouteFilter? {
        let limit = program.count / 2
        return limit < 128 ? nil : RouteFilter(watching: watched, instructionLimit: limit)
    }

    /// Returns a program for approximately the longest prefixes that fit.
    private static func widened(_ watched: PrefixCover, to limit: Int) -> [FilterInstruction] {
        let subnets = watched.ofSubnets
        var fitting = [FilterInstruction.accept]
        var low = 1
        // Each prefix takes at least two instructions.
        var high = min(subnets.prefixes.count, limit / 2)
        var guess = high
        while low <= high {
            let program = RouteFilterWriter.program(for: subnets.widened(toCount: guess))
            if program.count <= limit {
                fitting = program
                // A better result is not worth another attempt.
                if program.count > limit - limit / 16 { break }
                low = guess + 1
            } else {
                high = guess - 1
            }
            // The length of the program is approximately proportional to the number of prefixes.
            guess = min(max(guess * (limit - limit / 32) / program.count, low), high)
        }
        return fitting
    }
}

extension RouteFilter: CustomStringConvertible {
    /// A text for logs, for example `12 prefixes in 98 instructions`.
    package var description: String {
        "\(watched.prefixes.count) prefixes in \(program.count) instructions" + (isExact ? "" : ", widened")
    }
}

/// Writes the program of a `RouteFilter`.
///
/// A route is an interval of addresses. The first address is its destination; in the last one all bits after the prefix
/// are set. A watched prefix is also an interval. Two such intervals are disjoint, or one contains the other. The
/// program stores both ends of the route, word by word, and searches for the first one among the watched prefixes.
///
/// The program is written from its end (see `FilterAssembler`).
struct RouteFilterWriter {
    /// The words of BPF memory.
    enum Slot {
        /// Returns the index of word `level` of the route's first address.
        static func first(_ level: Int) -> UInt32 { UInt32(level) }
        /// Returns the index of word `level` of the route's last address.
        static func last(_ level: Int) -> UInt32 { UInt32(4 + level) }
        /// Returns the index of word `level` of RTA_DST as received.
        static func raw(_ level: Int) -> UInt32 { UInt32(8 + level) }
    }

    private enum Offset {
        static let kind = UInt32(4)
        static let family = UInt32(16)
        static let length = UInt32(17)
        /// The offset of the state in `ndmsg`.
        static let neighbourState = UInt32(24)
        static let neighbourFlags = UInt32(26)
        /// The offset of the attributes, after `nlmsghdr` and `rtmsg`.
        static let attributes = UInt32(MemoryLayout<nlmsghdr>.size + MemoryLayout<rtmsg>.size)
    }

    var assembler = FilterAssembler()
    let drop: FilterAssembler.Label
    let accept: FilterAssembler.Label
    /// Entry `compare[level]` requires word `level` of the first address in A, and the only matching word in X.
    var compare: [FilterAssembler.Label] = []
    /// The same as `compare`, but A is loaded first.
    var loadAndCompare: [FilterAssembler.Label] = []

    static func program(for watched: PrefixCover) -> [FilterInstruction] {
        var writer = RouteFilterWriter()
        let families = AddressFamily.allCases.map { family in
            let prefixes = watched.prefixes(of: family)
            // Words beyond the longest watched prefix need no comparison.
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

    /// Writes the code that distinguishes routes and neighbours from other messages. It continues with the family of a
    /// route in A.
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

    /// Writes the code for neighbours. It passes the same messages as `Neighbour.mayChangeRoutes`.
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

    /// Writes the code that reads the prefix of a route. Default routes and malformed messages pass.
    private mutating func writeReading(
        of family: AddressFamily,
        words: Int,
        then search: FilterAssembler.Label
    ) -> FilterAssembler.Label {
        var next = assembler.jump(to: search)
        for level in (0..<words).reversed() { next = writeEnds(level) }
        // X is the offset of the attribute.
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

    /// Writes the code that calculates one word of the route's first and last address. It continues with the previously
    /// written instruction.
    private mutating func writeEnds(_ level: Int) -> FilterAssembler.Label {
        let (start, end) = (UInt32(32 * level), UInt32(32 * level + 32))
        // A contains the mask.
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
        // The shift is 1 to 31, because the result of larger shifts depends on the processor.
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
    /// Returns the operand that equals a 16-bit field with this value in the machine's byte order, as the kernel writes
    /// it.
    fileprivate static func wire(_ value: UInt16) -> FilterInstruction.Operand {
        .constant(UInt32(value.bigEndian))
    }
}

/// The search for a route among the watched prefixes of its family, word by word.
///
/// Within a word, the prefixes are disjoint intervals. A tree of comparisons finds the first interval that does not end
/// before the route begins. The route overlaps it if it does not begin after the route ends; otherwise the route
/// overlaps no prefix. If a prefix is longer than the word and the route begins with the same word, the next word
/// decides. If the route ends within this word, its next word covers all values, so the route passes there.
extension RouteFilterWriter {
    /// The prefixes that share a word, or one prefix that ends in the word.
    private struct Entry {
        let low: UInt32
        let high: UInt32
        /// The prefixes that continue beyond this word.
        let rest: ArraySlice<AddressPrefix>
    }

    /// Writes the comparisons that are shared by all levels.
    mutating func writeComparisons(levels: Int) {
        for level in 0..<levels {
            assembler.branch(.greaterOrEqual, .index, then: accept, else: drop)
            let last = assembler.write(.loadMemory(Slot.last(level)))
            compare.append(assembler.branch(.greater, .index, then: drop, else: last))
            loadAndCompare.append(assembler.write(.loadMemory(Slot.first(level))))
        }
    }

    /// Writes the search. It ends at `accept` or `drop`, and does not depend on A and X.
    ///
    /// - Parameter prefixes: Sorted, disjoint prefixes that are equal in all previous words.
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

    /// Writes the tree of comparisons.
    ///
    /// - Parameter isLast: True if the route may begin after all entries. It always begins after the entries before
    ///   these.
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
    /// Returns a word of the address. Word 0 is the first in network order, and the only one of IPv4.
    fileprivate func word(_ level: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: leadingBits >> UInt128(96 - 32 * level))
    }
}
