/// One kind of bytes that come from outside.
struct Subject: Sendable {
    let name: String
    /// Those that damage begins with. Not all of them pass, but some do.
    let seeds: [[UInt8]]
    let judge: @Sendable ([UInt8]) -> Finding

    /// Their order is part of the kept inputs: new ones come last.
    static let all = [
        leaf, intermediate, chain, anchor, signedLeaf, signedIntermediate, response, signedResponse, list, signedList,
        file,
        text, fetchedList, signedFetchedList, withoutParameters,
    ]

    /// An input for libFuzzer, and of what is kept: which subject, and its bytes.
    func input(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(Self.all.firstIndex { $0.name == name } ?? 0)] + bytes
    }

    /// What an input says, and what becomes of it; nil for an empty one.
    static func judge(_ input: [UInt8]) -> (subject: Subject, finding: Finding)? {
        guard let first = input.first else { return nil }
        let subject = all[Int(first) % all.count]
        return (subject, subject.judge(Array(input.dropFirst())))
    }
}
