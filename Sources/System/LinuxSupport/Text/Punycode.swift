/// Unicode in letters, digits and hyphens (RFC 3492).
enum Punycode {
    private static let base = 36
    private static let minimum = 1
    private static let maximum = 26
    private static let skew = 38
    private static let damp = 700
    private static let firstBias = 72
    private static let firstCode = 128

    /// The encoded label without `xn--`; nil for one too long for a name.
    static func encode(_ scalars: [Unicode.Scalar]) -> String? {
        guard scalars.count <= 63 else { return nil }
        var output = scalars.filter(\.isASCII).map { Character($0) }
        let basicCount = output.count
        var handled = basicCount
        if basicCount > 0 { output.append("-") }
        var code = firstCode
        var delta = 0
        var bias = firstBias
        while handled < scalars.count {
            // There is one, for not all are handled.
            guard let next = scalars.lazy.map({ Int($0.value) }).filter({ $0 >= code }).min() else { return nil }
            delta += (next - code) * (handled + 1)
            code = next
            for scalar in scalars {
                if scalar.value < code { delta += 1 }
                guard scalar.value == code else { continue }
                output.append(contentsOf: digits(delta, bias: bias))
                bias = adapt(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            code += 1
        }
        return String(output)
    }

    /// A number as digits of changing weight, RFC 3492, section 6.3.
    private static func digits(_ number: Int, bias: Int) -> [Character] {
        var digits: [Character] = []
        var rest = number
        var position = base
        while true {
            let threshold = min(max(position - bias, minimum), maximum)
            if rest < threshold { break }
            digits.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        return digits + [digit(rest)]
    }

    private static func digit(_ value: Int) -> Character {
        Character(Unicode.Scalar(UInt8(value < 26 ? value + 97 : value - 26 + 48)))
    }

    /// RFC 3492, section 6.1.
    private static func adapt(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / count
        var steps = 0
        while delta > (base - minimum) * maximum / 2 {
            delta /= base - minimum
            steps += base
        }
        return steps + (base - minimum + 1) * delta / (delta + skew)
    }
}
