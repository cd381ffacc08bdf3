import TestSupport
import TrustForge

/// Good bytes of each subject with random damage, the same ones for the same seed.
struct Mutations {
    private let seed: UInt64
    private var counts: [String: [String: Int]] = [:]

    init(seed: UInt64) {
        self.seed = seed
    }

    /// Nil if all went as it must, else the index of the first that did not.
    mutating func run(_ indices: Range<Int>, keeping kept: borrowing KeptInput) -> Int? {
        for index in indices {
            let subject = Subject.all[index % Subject.all.count]
            // Each has a generator of its own, so that it can be made again without those before it.
            var generator = SeededGenerator(seed: seed &+ UInt64(index) &* 0x9e37_79b9_7f4a_7c15)
            guard let good = subject.seeds.randomElement(using: &generator) else { continue }
            let bytes =
                Bool.random(using: &generator)
                ? DamagedBytes.make(from: good, using: &generator)
                : DamagedBytes.makeInPlace(from: good, using: &generator)
            kept.keep(subject.input(bytes))
            let finding = subject.judge(bytes)
            counts[subject.name, default: [:]][finding.name, default: 0] += 1
            if case .forbidden = finding { return index }
        }
        return nil
    }

    /// Undamaged, some of each subject must pass: else it is not the damage that is refused.
    static func seedsThatPass() -> [(name: String, passed: Int)] {
        Subject.all.map { subject in
            let passed = subject.seeds.filter { seed in
                guard case .passed = subject.judge(seed) else { return false }
                return true
            }
            return (subject.name, passed.count)
        }
    }

    /// How often each reason was given.
    var report: String {
        Subject.all.compactMap { subject in
            guard let reasons = counts[subject.name] else { return nil }
            let lines = reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { reason, count in
                String(repeating: " ", count: max(1, 10 - String(count).count)) + "\(count)  \(reason)\n"
            }
            return "\(subject.name)\n" + lines.joined()
        }.joined()
    }
}
