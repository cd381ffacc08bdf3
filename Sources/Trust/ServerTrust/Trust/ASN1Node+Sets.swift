import SwiftASN1

extension ASN1Node {
    /// The most elements of a set that anybody has seen in a name is three.
    private static let maximumSetSize = 32

    /// Throws if it is, or has somewhere in it, a set of very many elements: they are sorted when they are read, which takes long.
    func requireSmallSets() throws {
        guard case .constructed(let children) = content else { return }
        var count = 0
        for child in children {
            count += 1
            guard identifier != .set || count <= Self.maximumSetSize else {
                throw ASN1Error.invalidASN1Object(
                    reason: "a set of a name has more than \(Self.maximumSetSize) elements"
                )
            }
            try child.requireSmallSets()
        }
    }
}
