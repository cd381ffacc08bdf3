import LinuxSupport
import Netlink

extension LatencyHistogram {
    /// Which bucket a value belongs to: the position of its highest bit in nanoseconds, then the five bits after it.
    enum Bucket {
        /// The highest bits that are distinguished: from 512 ns to just below 2⁴² ns.
        private static let octaves = 9...41
        private static let detailBits = 5

        static let count = octaves.count << detailBits

        /// The greatest value there is a bucket for: 2⁴² − 1 ns, some 73 minutes.
        static let limit = Duration.nanoseconds(1 << (octaves.upperBound + 1) - 1)

        /// The bucket of a value up to the limit.
        static func index(of value: Duration) -> Int {
            let nanoseconds = Swift.max(value.nanoseconds, 1 << octaves.lowerBound)
            let octave = Int64.bitWidth - 1 - nanoseconds.leadingZeroBitCount
            let detail = Int(nanoseconds >> (octave - detailBits)) & (1 << detailBits - 1)
            return (octave - octaves.lowerBound) << detailBits | detail
        }

        /// At most half a width, a 64th of its least value, away from every value of the bucket.
        static func middle(of index: Int) -> Duration {
            let octave = octaves.lowerBound + index >> detailBits
            let width = Int64(1) << (octave - detailBits)
            let detail = Int64(index & (1 << detailBits - 1))
            return .nanoseconds(Int64(1) << octave + detail * width + width / 2)
        }
    }
}
