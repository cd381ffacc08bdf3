package import ArgumentParser
import LinuxSupport

/// What is wrong with a command line whose words are no subcommands; each function has nil where they are.
package enum MistypedWord {
    /// The first word, where a subcommand should stand: a host, or one that is mistyped.
    package static func subcommand(of command: any ParsableCommand.Type, _ words: [String]) -> ExitMessage? {
        guard let word = words.first, !word.hasPrefix("-"), word != "help" else { return nil }
        let names = command.configuration.subcommands.map { $0._commandName }
        guard !names.contains(word) else { return nil }
        if let name = nearest(to: word, of: names) {
            let line = ([name] + words.dropFirst()).map(\.printable).joined(separator: " ")
            return ExitMessage("there is no subcommand \(word.printable); did you mean: reachability \(line)", .usage)
        }
        let line = words.map(\.printable).joined(separator: " ")
        return ExitMessage("no subcommand is given; did you mean: reachability status \(line)", .usage)
    }

    /// The words after `help`, each a subcommand of the one before.
    package static func help(of command: any ParsableCommand.Type, _ words: [String]) -> ExitMessage? {
        guard words.first == "help" else { return nil }
        var command = command
        var path = "reachability"
        for word in words.dropFirst() where !word.hasPrefix("-") {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else {
                let hint = "`\(path) --help` shows those there are"
                return ExitMessage("there is no subcommand \(word.printable): \(hint)", .usage)
            }
            command = next
            path += " \(word)"
        }
        return nil
    }

    /// The name that differs least, by two letters at most and by fewer than it has in common with the word.
    private static func nearest(to word: String, of names: [String]) -> String? {
        let distances = names.map { (name: $0, distance: distance(Array(word), Array($0))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= min(2, best.name.count / 2) ? best.name : nil
    }

    /// How many letters have to be put in, left out or replaced (Levenshtein).
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var next = [index + 1]
            for (column, otherLetter) in other.enumerated() {
                next.append(min(row[column] + (letter == otherLetter ? 0 : 1), row[column + 1] + 1, next[column] + 1))
            }
            row = next
        }
        return row[other.count]
    }
}
