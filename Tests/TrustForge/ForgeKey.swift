import Crypto
import CryptoExtras
import FoundationEssentials
import SwiftASN1
package import X509

/// A key for forged certificates. Elliptic curve keys are derived from their names, so they are the same in each run.
package struct ForgeKey: Sendable {
    package let key: Certificate.PrivateKey

    package static func p256(_ name: String) -> ForgeKey {
        // With a probability of 1 in 2^32 the hash exceeds the order of the curve. Then the program ends at once.
        let scalar = SHA256.hash(data: Array(name.utf8))
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: Array(scalar)) else {
            fatalError("\(name) makes no key, take another")
        }
        return ForgeKey(key: Certificate.PrivateKey(key))
    }

    package static func p384(_ name: String) -> ForgeKey {
        guard let key = try? P384.Signing.PrivateKey(rawRepresentation: Array(SHA384.hash(data: Array(name.utf8))))
        else {
            fatalError("\(name) makes no key, take another")
        }
        return ForgeKey(key: Certificate.PrivateKey(key))
    }

    package static func ed25519(_ name: String) -> ForgeKey {
        guard
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: Array(SHA256.hash(data: Array(name.utf8))))
        else { fatalError("\(name) makes no key, take another") }
        return ForgeKey(key: Certificate.PrivateKey(key))
    }

    /// Returns a key file for a server that does not have the private key: the public key of a P-256 key with another
    /// private key. OpenSSL compares only public keys, so it accepts the file and creates invalid signatures.
    package func keylessPEM() throws -> String {
        let document = try PEMDocument(pemString: try key.serializeAsPEM().pemString)
        var der = document.derBytes
        // ECPrivateKey (RFC 5915): version 1, then 32 bytes.
        let start: [UInt8] = [0x02, 0x01, 0x01, 0x04, 0x20]
        guard let range = der.firstRange(of: start) else { fatalError("no key on P-256") }
        der[range.upperBound + 31] ^= 1
        return PEMDocument(type: document.discriminator, derBytes: der).pemString
    }

    /// An RSA key of 1024 bits. It is generated once, because this takes long.
    package static let rsa1024 = rsa(1024)

    private static func rsa(_ bits: Int) -> ForgeKey {
        guard let key = try? _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bits)) else {
            fatalError("no RSA key of \(bits) bits can be made")
        }
        return ForgeKey(key: Certificate.PrivateKey(key))
    }
}

/// RSA keys that are the same in each run. Generating keys takes long, and with fixed keys results are reproducible.
/// The keys are public, so use them only for these tests.
extension ForgeKey {
    package static let rsa2048 = encoded.map { lines in
        guard let der = Data(base64Encoded: lines.filter { !$0.isWhitespace }),
            let key = try? _RSA.Signing.PrivateKey(derRepresentation: der)
        else { fatalError("a key of RSA cannot be read") }
        return ForgeKey(key: Certificate.PrivateKey(key))
    }

    /// The keys as RSAPrivateKey (RFC 8017, A.1.2) of 2048 bits.
    private static let encoded = [
        """
        MIIEpQIBAAKCAQEAoBFuppa83vNxVDAk1iz5GM1YzAxHtS0oLJcitAx3qK2hOvnAR6ENXeTGxqMQsKRLdiw0eHfiexDcFxgVqH5E
        tdFAP9xVT/6UtNc3JGfI+0ymjpz9lHegnPclyVZisu46wmjjAoOKHTvpSWRcd5b0xSxYizgTkth4aaQ80CLDGndGGkAhJUAF9gqq
        Q0YFlv9fot4Qy0j/4eq799oIVdqfrFxr7iQlXow7r2e/5qqq5eHiBIXGvJ5WssWGAF1QphCeM4LzKQM1kMwZUtolO6ofwynFYj3x
        AsoT5rtB8ulhaY7Vll03uDVBPW1V/8aWlgGojIkZzX7gUK2phyKnkqOx9wIDAQABAoIBACER+O5qDjNx0GQ4XiPxvrUlF8dwchA4
        eCheQUk5mi87UChDGTqzR3OypG69meEk0IJlt6F8A0qxvQb4buEU1VVLGh8Xgni4fDiwji/zUU66E187iBh4brJ/TUs/kbyuA23P
        BberPYm0qwoCtifvBDsIYnLA7ypTlu0chYPq6qw4zDo+QAfB7NR/o6G7SVgNxBEtdpbOXZ8Ij0LWZwTybboYHIM0qkDCp1H9y0uQ
        Dt0AoWCR0zPyWn0/CxRnGSVi23lnynzvRhbHysESKAq6sqq9w4BnbhKNLzVYgWW5livj4FfWoLoDbazC3nL99RrceTZEHHR80qej
        uWYdwjfXMWECgYEA3noS7tHz6GKpehC5cYw3MteQyZDVnqtoVwc1qV0l43VcvVcU5jX4+dz8D43BPBw+E1/OoSTJqSpnP333Qcgt
        +UhSqFvfo1mMMD3dUNfo05piq66TkdMNVxnWs2O60N9RJIrTsVDGrEA3ji5gRKJhhk2HMTcW/h2MyGRkGV4FGu0CgYEAuC/5ReAA
        7i/YOVKPZNzkiHmYTi5VC4ANzvtGLebBPSZ6JlJeBfT63ZpcAnQTDsvEW5dEzU1O2KXo5Rx8pDjw6+2fZDLTMoICjB5/3xywVJo2
        FF3sf9H5DiDE993anqeLvCrxMzOMYp4PYGZNlofTe9AwEM9nrES0aNpPEubsT/MCgYEArnnkQUGM3LILobxeAwvo+kmOtlWNAswA
        n0f7MKDppvIS0jbqIAUyBprlXzlX01F+6WjYvw3/zViA8o1SjVd1nqu2j2zF/fCrfeX2nIFHijPosCXQe6ueKbIM7FEJYOfSVis+
        DDCCLvKJ30rFmu4SN+azYMiIkrAQCdSZoD9ZF50CgYEAqmHulP33vl7SBYzjCynv2nOpOcFQeLf3jh4RuIp6/adnXaXaRmZt3qtZ
        LAfWTVygAx42zjgSlQU9IRwuDPiDnawOQ3Fkv5dW5emc3na6gzi4iDSufztsye30Z1p6T0OsVt/eij/IQL34eXOJmJODRki6/gHu
        5IQV49z3QwQNXJMCgYEA1YHI5ppvxo4WZjQYiOJLyo84Y0D9VFKHRBJ82ql+l9bOkmyAoIWAxh12ksLRkyoxAB2bPRgFXLYJO+sp
        X53izYvaex0jmFTydoyS7Hf1txk+6IP97cWcrqha0/n1L/ftKx2/+RqDVeyeirKLHX66XMQPQYE+0qymSrKd0KaUdwA=
        """,
        """
        MIIEowIBAAKCAQEAuJ6uYcyLrrmBjVuzxsITiS/QXCKFmzd8DuislOL5ihqdIuk9082oKhEoxQnAP1/05gmUg9FAPVrRHRhePlXJ
        KJNnTvULmgxNOSVL6meru7Lud7TVbvJYDeNPXHHynVXCEHxlhl4PmqzdOE1ikwgesRA1pttGUwTd84BqOn9U8WA3ukPa59l3PrNd
        0K6DuWrm2N/j/4Lhj2xN2AbQ1yCbZyPYaGh9nVa5iCui9rV/mgt2VH5XP/mgDU39U5iyrzphROoKujvg+Yhj4ZjRNPmhC18BW18B
        FHsOcQ6qdSZ7i+Nzgyk0F6hubA5jQBtuZQhBFrjsH2JCZDk3kQbiswP50QIDAQABAoIBADykxyRR88oznlYoOr/9rTwhjCBPqLKJ
        QcOF83a+rfiK8HXwxsHlqqkS1OEQaGmI5CGSIQpBuIfO5qTXhdGVDUw6SzOY87Qo+U7drPe1ESjJSGLi8D8O9RSux7lWprq+2k3f
        Btxh1l9ZDBu787bXcnl4GR+TpKCNlziuxHYtsGHOyX/QEk4yDMjWpGEWKrWXMnM8toJ4fCFqprJ0E7PKYSKTzaxNGi/1m5HEo9H+
        gzRlK2DjXOx0c7Bjy3AKwNqLqknCi5sgqqh+tSXwGMd8A6lgCcMCxMK2ghzjbTh2iL/CplcBjglmSfPeyNVSqDOxUeRyiCyh37PZ
        aEJzkAOKpa8CgYEA7BmXaIftrtlyFnnSE1cSV5RXWStjjI2NI5UkuPtPMDyn22PAVC2X4BEMU1kH9h95Li2hvEL9l0AupxR1Jo/d
        xzCJJ+XxTSJxIi3hAYV7ty8/prwZaUMdsrVXtbuY/NV+Gb5UuMsG+7b9cZ3MrYm4x3lM1ObvEuYhZH3Y8CT6KLcCgYEAyC5JL07S
        h+bgSW311hdkq8FV5G/TydVMTOgcLTrQf3WzUt6bHFxbwUp0T/KCgRomBZrTzsj0HN1TPBAaylGfPsyenKLUiVNx1B4fZFTlmh71
        MKrcKdG33l8Z42HJ19mDdBbldmsWaUsGRMMa8MzU+5/a4P9/7G6mehKa1z6BGbcCgYB+4bHwxzwAv3MEiStQoXaGAn5+uUaifl/f
        Q4OctdH0xmQfDxiJJId+LytEj5ArwPZKztMgbZAC/McVm3Tp6F7zcS4EdxqarWvHRoipXKcD5yx52pR9cUhAhhxA2jR5i/Jcu2Ck
        fted5tWFfZxFlsHq0VFtCT5qFarUap1vUS/vOQKBgGJehG4v8LsB1GOhGnZLZpgUWK352fxLycPdJ8N+LGkGIMnvRA/KvvgcK04C
        IOlqPRbx/3WVQIhSpo1UaKXVOEj26laUmZamH8CZ0NlP8sgqwFhbDfeq7AzldOZM7pAYfkV03uuzMf8p8/mkWr/MGDlSU4/PXkCE
        G2DPdbGiMHS/AoGBAKXIJgPyzsPPvMuZG6W/nzmJup7KHEzIg1vUTGAMH2B9p/ZDfx8GUx/fZIIimlNI3MOv4ntoMc3nvLRkxF/Z
        SSSVz1L0q1kjhzCFkQwl5rWEJ8Mq3fY73SJJsD0VgXhciPOzFyvXqnZlRs/fA0hZuHhtXENOH72pWQGuvfA5A6CD
        """,
        """
        MIIEowIBAAKCAQEAjV4VKh8f+zh8xsN/uNh5/wNOTpkTZfc0PfvoJ5l2FOxNo/UJAjCs8BPe7TmGauF7NUQyW5MamMC21xfs1bbd
        f8INHySRrRAJSpqC8FTiSOdGjxSZm5mwivBE4BJiSeNdNG2XRg2hy41y5FNZY3Ys7okaxd3T2QyURiXKQiMG6YXkr6IV9kI+kXh+
        hKmfzTv9GOryUbPXuAZl9fM7sv7cr/oPcc2AXggsS11tqLCpSyXuXTx37QRQnBjhk45/Dr0sAPOROMjFUyFbfEgH+iaIYqsbX282
        wz8PNCvggWHxjTJ5nN9H91XZbTKaIVxKQNU36kUGV3KlVl50Cg/wDLOUHQIDAQABAoIBACbSXvKN0J0PYqi8+F69SCdhc4g/HmYi
        kHyzKIpzaMuPJzUu7fXlgyB8/HveD81bNZgnrcKbL7MiPTPtdJMuID7c/fh+9Oh3Xm3X57xzOx81MBnL2PEzsBk/qVJ1iftrjmV+
        8QuCY9u/8PzF7ObVBbrN+QW8iNhyzWdEKnqmHthTDcDQYwa3Wd+b76S5eb3tIPhUlvMA97P73gZq+oJejvKu9ZKCmCAweITPuEZp
        V5H9nJAX2LfObh+URTKQdYBFrFiIF35DiZ79t9fgaomFvNJVo0SHzIvV71lV9F5IsgJ/jDqWClcn/EkNyPU1VaO5V+UUqTNDJfI2
        a7Ovp40nzesCgYEAv3J8Vw5/cMIFU3dsggWXqFXAPOLHzOivYAcVGnKnCp+FktLCe6pqG5HxVaeTGVd1ovk2M3Bs9nNCdGmfmufd
        ABF8OVpY6QYwSmyLFySs37PlhoO3OLLnm1q3Ir+dx8FkL/flOyrVYRLAOLBRhvkEpDd50pLmdtaDnZVi8lni9l8CgYEAvQjFnvEs
        CIVzgYaDNrHm7iZLXuCyCkUkzCLXxdAw/4rvDZZtjCXD5+WXk27W2qVCzY+AhSP+YtuEMUD7M4p6ZyXYn0bDjq+RQw0TDiac/nmU
        u+/WgJN3t65IANPk45NbNB09D60rHI6QMcMci5PmdY0iaCKfGMuX7aWUoPH47wMCgYBhr2kCgsNEJbvR+v3C2len7RlJ9+07AP97
        YCHEfPv+z6a4ZBIYR7wclTsvGXJVW+sKXV7qoFL47ZbbD4oA4I5DmqhoG1GClUXOs9PE21HaU1CqckrrA15qRr9rW5qGcodMcpDk
        v9Zg0dCDHHR9ClLz99qRN6Ogv5QotDDouDS2wQKBgBqqix4xzVFiafninM3xaK89rbIzpkn2mQtG+wNHrDHQSoqzJr73cNxcsfY1
        U4/CclsHHE0r163gY5SDIyyRI1U7rIRDekC9mZNI2+BKKClpw0aDvdGje+boafXb7lUAK4R9f2ifuA4uOj8a1AMImSEKCMmB4Mmh
        psv6aK4PlFs7AoGBAIgvtU/jhmudwjtIG255Jr3RDKo/aB2fg9I4iwO1r2YWtvDvJYxSr8t8Iz/fJpX9/CE1vHXDahMjXxbiUmbz
        hukleQgk5epQmxQhqpY8ArXzCVEIclDV08pe/25b2ZTcLhlS0ql/XknOpjcJqawHQotkS7p6SRf6n7HyNQ5IRhyC
        """,
    ]
}
