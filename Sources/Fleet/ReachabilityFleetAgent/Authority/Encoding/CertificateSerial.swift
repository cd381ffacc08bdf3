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
        let padded = (digits.utf8.count % 2 == 0 ? "" : "0") + digits
        guard (1...40).contains(digits.utf8.count), let bytes = [UInt8](hexadecimal: padded.utf8) else { return nil }
        self.init(bytes)
    }

    /// Two lower case digits for each byte.
    package var description: String { bytes.hexadecimal() }
}
