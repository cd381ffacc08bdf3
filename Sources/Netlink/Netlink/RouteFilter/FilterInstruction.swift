package import CLinux

/// One instruction of a classic BPF program. The machine has an accumulator A, an index register X and sixteen words of
/// memory.
///
/// Values are loaded from a message in network byte order. A load beyond the end of the message ends the program and
/// drops the message.
///
/// C counterpart: `sock_filter`, `BPF_*` in `<linux/bpf_common.h>`, `SKF_*` in `<linux/filter.h>`.
package enum FilterInstruction: Hashable, Sendable {
    /// The number of bytes that a load reads, with its code (`BPF_B`, `BPF_H`, `BPF_W`).
    package enum Width: CInt, Hashable, Sendable {
        case word = 0x00
        case half = 0x08
        case byte = 0x10
    }

    /// The operation on A, with its code (`BPF_ADD`, `BPF_OR` ...).
    package enum Operation: CInt, Hashable, Sendable {
        case add = 0x00
        case or = 0x40
        case and = 0x50
        case shiftLeft = 0x60
        case xor = 0xa0
    }

    /// A comparison of A as an unsigned number, with its code (`BPF_JEQ`, `BPF_JGT`, `BPF_JGE`).
    package enum Condition: CInt, Hashable, Sendable {
        case equal = 0x10
        case greater = 0x20
        case greaterOrEqual = 0x30
    }

    /// The other operand of a calculation or comparison.
    package enum Operand: Hashable, Sendable {
        case constant(UInt32)
        case index
    }

    /// Sets A to the length of the message.
    case loadLength
    /// Sets A to the value at a fixed offset.
    case load(Width, at: UInt32)
    /// Sets A to the value at the offset plus X.
    case loadIndexed(Width, at: UInt32)
    case loadConstant(UInt32)
    case loadMemory(UInt32)
    case loadIndexConstant(UInt32)
    case loadIndexMemory(UInt32)
    case store(UInt32)
    case moveToIndex
    case moveFromIndex
    case calculate(Operation, Operand)
    case negate
    /// Sets A to the offset of the first netlink attribute of type X at or after offset A; 0 if there is no such
    /// attribute.
    case findAttribute
    /// Skips this number of instructions.
    case jump(UInt32)
    /// Skips `then` instructions if the condition is true, and `else` instructions otherwise.
    case branch(Condition, Operand, then: UInt8, else: UInt8)
    /// Ends the program. The whole message is delivered.
    case accept
    /// Ends the program. The message is not delivered.
    case drop
}

extension FilterInstruction {
    /// The instruction in the kernel's format.
    package var encoded: sock_filter {
        switch self {
        case .loadLength: .make(BPF_LD | BPF_W | BPF_LEN)
        case .load(let width, let offset): .make(BPF_LD | width.rawValue | BPF_ABS, offset)
        case .loadIndexed(let width, let offset): .make(BPF_LD | width.rawValue | BPF_IND, offset)
        case .loadConstant(let value): .make(BPF_LD | BPF_IMM, value)
        case .loadMemory(let slot): .make(BPF_LD | BPF_MEM, slot)
        case .loadIndexConstant(let value): .make(BPF_LDX | BPF_IMM, value)
        case .loadIndexMemory(let slot): .make(BPF_LDX | BPF_MEM, slot)
        case .store(let slot): .make(BPF_ST, slot)
        case .moveToIndex: .make(BPF_MISC | BPF_TAX)
        case .moveFromIndex: .make(BPF_MISC | BPF_TXA)
        case .calculate(let operation, let operand): .make(BPF_ALU | operation.rawValue | operand.code, operand.value)
        case .negate: .make(BPF_ALU | BPF_NEG)
        case .findAttribute: .make(BPF_LD | BPF_W | BPF_ABS, UInt32(bitPattern: SKF_AD_OFF + SKF_AD_NLATTR))
        case .jump(let distance): .make(BPF_JMP | BPF_JA, distance)
        case .branch(let condition, let operand, let then, let other):
            .make(BPF_JMP | condition.rawValue | operand.code, operand.value, then, other)
        case .accept: .make(BPF_RET | BPF_K, .max)
        case .drop: .make(BPF_RET | BPF_K, 0)
        }
    }
}

extension FilterInstruction.Operand {
    fileprivate var code: CInt { self == .index ? BPF_X : BPF_K }

    fileprivate var value: UInt32 {
        if case .constant(let value) = self { value } else { 0 }
    }
}

extension sock_filter {
    /// C counterpart: `BPF_STMT`, `BPF_JUMP`.
    fileprivate static func make(_ code: CInt, _ k: UInt32 = 0, _ jt: UInt8 = 0, _ jf: UInt8 = 0) -> sock_filter {
        sock_filter(code: UInt16(code), jt: jt, jf: jf, k: k)
    }
}

/// Assembles a classic BPF program from its end to its beginning.
///
/// Classic BPF only jumps forward. If the program is written backwards, the target of each jump exists already and its
/// distance is known. A conditional jump reaches at most 255 instructions. For a more distant target an unconditional
/// jump (a step) is inserted directly after the conditional one. Further jumps to the same target also use it.
struct FilterAssembler {
    /// The position of an instruction that was already written.
    struct Label: Hashable, Sendable {
        /// The position, counted from the end of the program.
        fileprivate let position: Int
    }

    /// The instructions in reverse order.
    private var reversed: [FilterInstruction] = []
    /// The last step to each label that required one.
    private var steps: [Label: Label] = [:]
    /// The maximum number of instructions that a conditional jump skips. One less than 255, because a step for its
    /// other target may be inserted in between.
    private static let reach = 254

    /// The program written so far.
    var program: [FilterInstruction] { reversed.reversed() }

    var count: Int { reversed.count }

    /// Writes instructions, given in the order of execution, before the existing ones. Execution continues with the
    /// previously written instruction, unless the last new one ends the program.
    @discardableResult
    mutating func write(_ instructions: FilterInstruction...) -> Label {
        reversed.append(contentsOf: instructions.reversed())
        return Label(position: reversed.count - 1)
    }

    /// Writes a jump, unless `label` follows directly.
    @discardableResult
    mutating func jump(to label: Label) -> Label {
        let distance = distance(to: label)
        return distance == 0 ? label : write(.jump(UInt32(distance)))
    }

    /// Writes a comparison of A that continues at one of two labels.
    @discardableResult
    mutating func branch(
        _ condition: FilterInstruction.Condition,
        _ operand: FilterInstruction.Operand,
        then: Label,
        else other: Label
    ) -> Label {
        let then = reachable(then)
        let other = reachable(other)
        return write(.branch(condition, operand, then: UInt8(distance(to: then)), else: UInt8(distance(to: other))))
    }

    /// Returns the number of instructions between the next one and `label`.
    private func distance(to label: Label) -> Int { reversed.count - 1 - label.position }

    /// Returns the label itself or a step to it. Execution never falls through into a step, because the next written
    /// instruction is a branch.
    private mutating func reachable(_ label: Label) -> Label {
        if distance(to: label) <= Self.reach { return label }
        if let step = steps[label], distance(to: step) <= Self.reach { return step }
        let step = jump(to: label)
        steps[label] = step
        return step
    }
}
