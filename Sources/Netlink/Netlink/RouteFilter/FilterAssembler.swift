/// Puts a classic BPF program together from its end to its beginning.
///
/// Classic BPF only jumps forward. Written backwards, a jump can only lead to what is there already, at a distance that is
/// known. A conditional jump reaches 255 instructions; what is farther gets a stepping stone, a plain jump right behind the
/// conditional one, which further jumps to the same place use as well.
struct FilterAssembler {
    /// An instruction that is there already.
    struct Label: Hashable, Sendable {
        /// Counted from the end of the program.
        fileprivate let position: Int
    }

    /// The last instruction comes first.
    private var reversed: [FilterInstruction] = []
    /// The last stepping stone to each label that needed one.
    private var steps: [Label: Label] = [:]
    /// What a conditional jump may pass over, one less than 255: a stepping stone for its other side may come between.
    private static let reach = 254

    /// The program as far as it is written.
    var program: [FilterInstruction] { reversed.reversed() }

    var count: Int { reversed.count }

    /// Writes instructions, which stand in the order they run in, before everything that is there. They fall through to
    /// what was written last, unless the last of them ends the program.
    @discardableResult
    mutating func write(_ instructions: FilterInstruction...) -> Label {
        reversed.append(contentsOf: instructions.reversed())
        return Label(position: reversed.count - 1)
    }

    /// Writes a jump, unless `label` comes next anyway.
    @discardableResult
    mutating func jump(to label: Label) -> Label {
        let distance = distance(to: label)
        return distance == 0 ? label : write(.jump(UInt32(distance)))
    }

    /// Writes a comparison of A that goes on at one label or another.
    @discardableResult
    mutating func branch(
        _ condition: FilterInstruction.Condition,
        _ operand: FilterInstruction.Operand,
        then: Label,
        else other: Label
    ) -> Label {
        let then = reachable(then)
        let other = reachable(other)
        return write(
            .branch(condition, operand, then: UInt8(distance(to: then)), else: UInt8(distance(to: other)))
        )
    }

    /// What the next instruction would pass over on its way to `label`.
    private func distance(to label: Label) -> Int { reversed.count - 1 - label.position }

    /// The label itself or a stepping stone to it. Nothing falls into a stone: what is written next is a branch.
    private mutating func reachable(_ label: Label) -> Label {
        if distance(to: label) <= Self.reach { return label }
        if let step = steps[label], distance(to: step) <= Self.reach { return step }
        let step = jump(to: label)
        steps[label] = step
        return step
    }
}
