import SwiftASN1

/// The certificates or lists in a text of PEM blocks (RFC 7468), whatever stands between them: bundles have comments and whole
/// printouts.
package enum PEMBlocks {
    private static let newline = UInt8(ascii: "\n")

    /// The DER of each block of a type, nil for those that cannot be decoded.
    package static func documents(in bytes: [UInt8], type: String) -> [[UInt8]?] {
        let begin = Array("-----BEGIN \(type)-----".utf8)
        let end = Array("-----END \(type)-----".utf8)
        var blocks: [[UInt8]?] = []
        var document: [UInt8]?
        // As bytes: to make a text of each of the 3,500 lines of a system's roots takes longer than to read its certificates.
        for line in bytes.split(whereSeparator: { $0 == newline || $0 == UInt8(ascii: "\r") }) {
            // Longer lines are no PEM.
            guard line.count <= 1024 else { document = nil; continue }
            let line = trimmingBlanks(line)
            if line.elementsEqual(begin) {
                document = begin + [newline]
            } else if line.elementsEqual(end), let open = document {
                let text = String(decoding: open + end, as: UTF8.self)
                blocks.append((try? PEMDocument(pemString: text))?.derBytes)
                document = nil
            } else {
                document?.append(contentsOf: line)
                document?.append(newline)
            }
        }
        return blocks
    }

    private static func trimmingBlanks(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isText: (UInt8) -> Bool = { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard let first = line.firstIndex(where: isText), let last = line.lastIndex(where: isText) else { return [] }
        return line[first...last]
    }
}
