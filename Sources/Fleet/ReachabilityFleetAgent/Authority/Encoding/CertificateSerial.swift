import LinuxSupport

/// The number of a certificate, another for each that an authority issues (RFC 5280, 4.1.2.2).
package struct CertificateSerial: Hashable, Sendable, CustomStringConvertible {
    /// The highest first, without zeros before it.
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes.drop { $0 == 0 })
    }

    /// A new one by chance, of 16 bytes: no two are the same, and nobody can foresee one.
    package init() {
        let number = UInt128.random(in: 1 << 120..<1 << 127)
        bytes = stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt128($0)) }
    }

    /// Reads hexadecimal digits, also with a colon between each two, as OpenSSL prints them; nil where they are none.
    package init?(_ text: String) {
        let digits = text.replacing(scalars: ":", with: "")
        guard (1...40).contains(digits.utf8.count), digits.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let padded = Array((digits.utf8.count % 2 == 0 ? "" : "0") + digits)
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: padded.count, by: 2) {
            guard let high = padded[index].hexDigitValue, let low = padded[index + 1].hexDigitValue else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        self.init(bytes)
    }

    /// Two lower case digits for each byte.
    package var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
