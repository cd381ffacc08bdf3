import SwiftASN1

/// The certificates in a text of PEM blocks (RFC 7468), whatever stands between them: bundles have comments and whole printouts.
enum PEMBlocks {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// The DER of each block that can be decoded.
    static func certificates(in bytes: [UInt8]) -> [[UInt8]] {
        var blocks: [[UInt8]] = []
        var lines: [String]?
        for line in bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            // Longer lines are no PEM, and need not be made into text.
            guard line.count <= 1024 else { lines = nil; continue }
            let text = String(decoding: line, as: UTF8.self).trimmingBlanks()
            if text == begin {
                lines = [text]
            } else if text == end, let open = lines {
                let document = (open + [text]).joined(separator: "\n")
                if let block = try? PEMDocument(pemString: document) { blocks.append(block.derBytes) }
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
