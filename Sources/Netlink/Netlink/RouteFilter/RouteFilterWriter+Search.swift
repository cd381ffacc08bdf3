import LinuxSupport

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
