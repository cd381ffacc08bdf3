import SwiftASN1

/// The certificates or lists in a text of PEM blocks (RFC 7468), whatever stands between them: bundles have comments and whole
/// printouts.
enum PEMBlocks {
    /// The DER of each certificate that can be decoded.
    static func certificates(in bytes: [UInt8]) -> [[UInt8]] {
        documents(in: bytes, type: "CERTIFICATE").compactMap { $0 }
    }

    /// The DER of each block of a type, nil for those that cannot be decoded.
    static func documents(in bytes: [UInt8], type: String) -> [[UInt8]?] {
        let begin = "-----BEGIN \(type)-----"
        let end = "-----END \(type)-----"
        var blocks: [[UInt8]?] = []
        var lines: [String]?
        for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            // Longer lines are no PEM, and need not be made into text.
            guard line.count <= 1024 else { lines = nil; continue }
            let text = String(decoding: line, as: UTF8.self).trimmingBlanks()
            if text == begin {
                lines = [text]
            } else if text == end, let open = lines {
                let document = (open + [text]).joined(separator: "\n")
                blocks.append((try? PEMDocument(pemString: document))?.derBytes)
                lines = nil
            } else {
                lines?.append(text)
            }
        }
        return blocks
    }
}

extension String {
    fileprivate func trimmingBlanks() -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = self.drop(while: isBlank)
        return String(start.reversed().drop(while: isBlank).reversed())
    }
}
