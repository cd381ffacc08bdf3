// Modules import the formats with LinuxSupport.
@_exported public import Formats
