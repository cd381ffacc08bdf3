import Foundation
import Testing

/// Says a figure, in the process an exit test starts; `survivalPrint` shows it.
func survivalReport(_ text: String) {
    FileHandle.standardError.write(Data("survival: \(text)\n".utf8))
}

/// Shows what the process of an exit test reported.
func survivalPrint(_ result: ExitTest.Result?) {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for line in text.split(separator: "\n") where line.hasPrefix("survival: ") { print(line) }
}
