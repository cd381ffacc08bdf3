import CLinux

@testable import Netlink

/// The kernel's classic BPF, as `bpf_check_classic` and `bpf_skb_get_nlattr` in `net/core/filter.c` have it.
struct FilterInterpreter {
    enum Refusal: Error {
        /// No program has this length.
        case length(Int)
        /// A jump out of the program, at this instruction.
        case jump(Int)
        /// A memory slot that does not exist or was not written on every way to here.
        case memory(Int)
        case instruction(Int)
        /// The last instruction is no return.
        case end
    }

    private let program: [sock_filter]
    /// What the last run took.
    private(set) var steps = 0

    /// Checks the program as the kernel does.
    init(_ program: [FilterInstruction]) throws {
        self.program = program.map(\.encoded)
        try check()
    }

    /// Whether the message is delivered.
    mutating func passes(_ message: [UInt8]) throws -> Bool {
        var (a, x, counter) = (UInt32(0), UInt32(0), 0)
        var memory = [UInt32](repeating: 0xdead_beef, count: Int(BPF_MEMWORDS))
        steps = 0
        while true {
            let instruction = program[counter]
            let k = instruction.k
            counter += 1
            steps += 1
            switch CInt(instruction.code) {
            case BPF_LD | BPF_W | BPF_LEN: a = UInt32(message.count)
            case BPF_LD | BPF_W | BPF_ABS where k == UInt32(bitPattern: SKF_AD_OFF + SKF_AD_NLATTR):
                a = Self.attribute(message, from: a, type: x)
            case BPF_LD | BPF_W | BPF_ABS, BPF_LD | BPF_H | BPF_ABS, BPF_LD | BPF_B | BPF_ABS,
                BPF_LD | BPF_W | BPF_IND, BPF_LD | BPF_H | BPF_IND, BPF_LD | BPF_B | BPF_IND:
                let isIndexed = CInt(instruction.code) & 0xe0 == BPF_IND
                let start = Int(k) + (isIndexed ? Int(x) : 0)
                let size = [BPF_W: 4, BPF_H: 2, BPF_B: 1][CInt(instruction.code) & 0x18] ?? 0
                guard start + size <= message.count else { return false }
                a = message[start..<start + size].reduce(0) { $0 << 8 | UInt32($1) }
            case BPF_LD | BPF_IMM: a = k
            case BPF_LD | BPF_MEM: a = memory[Int(k)]
            case BPF_LDX | BPF_IMM: x = k
            case BPF_LDX | BPF_MEM: x = memory[Int(k)]
            case BPF_ST: memory[Int(k)] = a
            case BPF_MISC | BPF_TAX: x = a
            case BPF_MISC | BPF_TXA: a = x
            case BPF_RET | BPF_K: return k != 0
            case BPF_JMP | BPF_JA: counter += Int(k)
            case let code where code & 0x07 == BPF_JMP:
                let other = code & 0x08 == BPF_X ? x : k
                let holds = [BPF_JEQ: a == other, BPF_JGT: a > other, BPF_JGE: a >= other][code & 0xf0]
                guard let holds else { throw Refusal.instruction(counter - 1) }
                counter += Int(holds ? instruction.jt : instruction.jf)
            case let code where code & 0x07 == BPF_ALU:
                let other = code & 0x08 == BPF_X ? x : k
                switch code & 0xf0 {
                case BPF_ADD: a &+= other
                case BPF_SUB: a &-= other
                case BPF_AND: a &= other
                case BPF_OR: a |= other
                case BPF_XOR: a ^= other
                case BPF_NEG: a = 0 &- a
                // Wider shifts differ between processors.
                case BPF_LSH where other < 32: a <<= other
                case BPF_RSH where other < 32: a >>= other
                default: throw Refusal.instruction(counter - 1)
                }
            default: throw Refusal.instruction(counter - 1)
            }
        }
    }

    /// The offset of the first attribute of this type from `start` on, or 0.
    private static func attribute(_ message: [UInt8], from start: UInt32, type: UInt32) -> UInt32 {
        var start = Int(start)
        while message.count >= 4, start <= message.count - 4 {
            let length = Int(UInt16(message[start]) | UInt16(message[start + 1]) << 8)
            guard length >= 4, start + length <= message.count else { return 0 }
            let found = UInt32(message[start + 2]) | UInt32(message[start + 3] & 0x3f) << 8
            if found == type { return UInt32(start) }
            start += (length + 3) & ~3
        }
        return 0
    }

    private func check() throws {
        guard 1...Int(BPF_MAXINSNS) ~= program.count else { throw Refusal.length(program.count) }
        guard let last = program.last, CInt(last.code) & 0x07 == BPF_RET else { throw Refusal.end }
        // Slots that were written on every way to an instruction.
        var written = [UInt16](repeating: .max, count: program.count + 1)
        written[0] = 0
        var isReachedByFall = true
        for (index, instruction) in program.enumerated() {
            if !isReachedByFall, written[index] == .max, index > 0 { continue }
            var slots = written[index]
            let code = CInt(instruction.code)
            isReachedByFall = true
            switch code {
            case BPF_ST:
                guard instruction.k < BPF_MEMWORDS else { throw Refusal.memory(index) }
                slots |= 1 << UInt16(instruction.k)
            case BPF_LD | BPF_MEM, BPF_LDX | BPF_MEM:
                guard instruction.k < BPF_MEMWORDS, slots & 1 << UInt16(instruction.k) != 0 else {
                    throw Refusal.memory(index)
                }
            case BPF_JMP | BPF_JA:
                try land(index, Int(instruction.k), slots, &written)
                isReachedByFall = false
            case let code where code & 0x07 == BPF_JMP:
                try land(index, Int(instruction.jt), slots, &written)
                try land(index, Int(instruction.jf), slots, &written)
                isReachedByFall = false
            case let code where code & 0x07 == BPF_RET: isReachedByFall = false
            default: break
            }
            if isReachedByFall { written[index + 1] &= slots }
        }
    }

    private func land(_ index: Int, _ distance: Int, _ slots: UInt16, _ written: inout [UInt16]) throws {
        guard index + 1 + distance < program.count else { throw Refusal.jump(index) }
        written[index + 1 + distance] &= slots
    }
}
