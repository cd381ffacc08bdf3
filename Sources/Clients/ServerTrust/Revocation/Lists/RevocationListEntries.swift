import LinuxSupport
import SwiftASN1

/// The certificates on a list, left as they are encoded until somebody asks for one: who wrote a list that has been fetched is known
/// only when its signature was checked.
///
/// The first question walks through all of them and remembers where each is, in about ten bytes.
final class RevocationListEntries: Sendable {
    /// Extensions of an entry that are its reason and nothing else, without that reason.
    private static let onlyReason: [UInt8] = [0x30, 12, 0x30, 10, 0x06, 3, 0x55, 0x1d, 21, 0x04, 3, 0x0a, 1]

    private let bytes: ArraySlice<UInt8>
    private let hasExtensions: Bool
    /// By the hash of the serial number: where its last entry begins.
    private let places = Locked<[Int: Int]?>(nil)

    /// - Parameters:
    ///   - bytes: The contents of revokedCertificates (RFC 5280, 5.1.2.6).
    ///   - hasExtensions: Whether the list is of a version whose entries may have extensions.
    init(_ bytes: ArraySlice<UInt8>, hasExtensions: Bool) {
        self.bytes = bytes
        self.hasExtensions = hasExtensions
    }

    /// Whether anybody has looked at them.
    var areRead: Bool { places.withLock { $0 != nil } }

    /// How many there are, as far as they can be told apart.
    var count: Int {
        var walk = DERWalk(bytes)
        var count = 0
        while (try? walk.next()) != nil { count += 1 }
        return count
    }

    /// What is said of a certificate; nil if nothing is.
    ///
    /// - Parameter serialNumber: The contents of the INTEGER.
    /// - Throws: ``RevocationProblem`` when any of the entries cannot be read, or is of a kind that is not supported.
    func entry(of serialNumber: ArraySlice<UInt8>) throws(RevocationProblem) -> RevocationListEntry? {
        do {
            guard let place = try readPlaces()[serialNumber.hashValue] else { return nil }
            if let entry = try entry(at: place, of: serialNumber) { return entry }
            // Another has the same hash.
            var found: RevocationListEntry?
            try walk { found = try entry(at: $0.encoded.startIndex, of: serialNumber) ?? found }
            return found
        } catch let problem as RevocationProblem {
            throw problem
        } catch {
            throw .malformed(error.plainText)
        }
    }

    /// Looks at all of them.
    func check() throws {
        _ = try readPlaces()
    }

    private func readPlaces() throws -> [Int: Int] {
        if let known = places.withLock({ $0 }) { return known }
        var found: [Int: Int] = [:]
        try walk { entry in
            var parts = DERWalk(entry.content)
            let serialNumber = try parts.next(0x02, "serial number").content
            // Most have a time and a reason and no more.
            let hasTime = try parts.next().map { $0.tag == 0x17 || $0.tag == 0x18 } ?? false
            let isUsual = isUsual(try parts.next())
            if !hasTime || !isUsual || parts.nextTag != nil {
                _ = try RevocationListEntry.read(try entry.parsed("an entry"), hasExtensions: hasExtensions)
            }
            found[serialNumber.hashValue] = entry.encoded.startIndex
        }
        places.withLock { $0 = found }
        return found
    }

    private func isUsual(_ extensions: DERWalk.Element?) -> Bool {
        guard let encoded = extensions?.encoded else { return true }
        return hasExtensions && encoded.count == Self.onlyReason.count + 1 && encoded.starts(with: Self.onlyReason)
    }

    private func entry(at place: Int, of serialNumber: ArraySlice<UInt8>) throws -> RevocationListEntry? {
        var walk = DERWalk(bytes[place...])
        guard let node = try walk.next()?.parsed("an entry") else { return nil }
        let (number, entry) = try RevocationListEntry.read(node, hasExtensions: hasExtensions)
        return number == serialNumber ? entry : nil
    }

    private func walk(_ body: (DERWalk.Element) throws -> Void) throws {
        var walk = DERWalk(bytes)
        while walk.nextTag != nil { try body(try walk.next(0x30, "entry")) }
    }
}
