import Foundation

/// What this process uses, as /proc tells it.
struct SurvivalMeasure: CustomStringConvertible {
    let descriptors: Int
    let threads: Int
    let residentKilobytes: Int

    static var now: SurvivalMeasure {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func number(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            return Int(line.filter(\.isNumber)) ?? 0
        }
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        return SurvivalMeasure(
            descriptors: descriptors,
            threads: number("Threads"),
            residentKilobytes: number("VmRSS")
        )
    }

    var description: String { "\(descriptors) descriptors, \(threads) threads, \(residentKilobytes) kB" }
}
