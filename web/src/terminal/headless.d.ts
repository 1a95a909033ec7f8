// The package names a module that it does not contain; the one that it does has the same face.
declare module "@xterm/headless/lib-headless/xterm-headless.mjs" {
  export * from "@xterm/headless";
}
