import CLinux
import Glibc
import LinuxSupport
import NetworkLab
import Testing

@testable import Netlink

/// The files of a named namespace, which replace those of the machine.
@Suite struct NamespaceFilesTests {
    private static func write(_ text: String, to path: String) {
        guard let file = fopen(path, "w") else { return }
        fputs(text, file)
        fclose(file)
    }

    @Test func `the files of a namespace replace existing files of etc`() throws {
        let found = try LabThread.run {
            // Mounts of this thread are not visible to others.
            try #require(clinux_unshare_mounts() == 0)
            try #require(mount("", "/", "none", UInt(MS_SLAVE) | UInt(MS_REC), nil) == 0)
            try #require(mount("lab", "/etc", "tmpfs", 0, nil) == 0)
            for directory in ["/etc/netns", "/etc/netns/blue", "/etc/netns/blue/ssl", "/etc/ssl"] {
                mkdir(directory, 0o755)
            }
            for file in ["hosts", "gai.conf"] {
                Self.write("machine", to: "/etc/\(file)")
                Self.write("blue", to: "/etc/netns/blue/\(file)")
            }
            Self.write("blue", to: "/etc/netns/blue/ssl/bundle")
            Self.write("blue", to: "/etc/netns/blue/nowhere")
            try NamespaceFiles(of: NamespaceReference(path: "/run/netns/blue"))?.show()
            return ["hosts", "gai.conf", "ssl/bundle", "nowhere"].map { TextFile.read("/etc/\($0)") }
        }
        #expect(found == ["blue", "blue", "blue", nil])
    }
}

@Suite("Watching a directory of namespaces")
struct NamespaceDirectoryWatchTests {
    @Test func `lost events count as a change, even if only one name is watched`() throws {
        var template = Array("/dev/shm/directory-watch-XXXXXX".utf8CString)
        #expect(mkdtemp(&template) != nil)
        let parent = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { rmdir(parent) }
        let limit = try #require(TextFile.read("/proc/sys/fs/inotify/max_queued_events").flatMap { Int($0.dropLast()) })
        let watch = try NamespaceDirectoryWatch(directory: "\(parent)/netns")
        #expect(watch.renew())
        mkdir("\(parent)/other", 0o755)
        rmdir("\(parent)/other")
        #expect(!watch.drain())
        for _ in 0...limit / 2 {
            mkdir("\(parent)/other", 0o755)
            rmdir("\(parent)/other")
        }
        #expect(watch.drain())
        #expect(watch.renew())
        #expect(!watch.drain())
        mkdir("\(parent)/netns", 0o755)
        #expect(watch.drain())
        rmdir("\(parent)/netns")
    }

    @Test func `waiting ends when it is interrupted`() throws {
        let watch = try NamespaceDirectoryWatch(directory: "/nowhere/netns")
        watch.interrupt()
        while try watch.wait() {}
        #expect(!watch.drain())
    }
}
