// The whole page: language, sign-in, the cache and its stream around everything else.
import { QueryClientProvider } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";

import { type Outside, whenOutside } from "../api/client";
import { makeCache, makeStream, StreamProvider, useStatus, useStream } from "../api/queries";
import { loadKoreanFace } from "../look/face";
import { Failure, Loading } from "../parts/states";
import { Another } from "../sign-in/Another";
import { SignedOut } from "../sign-in/SignedOut";
import { SignIn } from "../sign-in/SignIn";
import { firstLanguage, keepLanguage, type Language, LanguageProvider } from "../words/words";
import { Preferences } from "./preferences";
import { go, usePath } from "./router";
import { Shell } from "./Shell";
import { ShortcutProvider } from "./shortcuts";
import { firstSingleKeys, keepSingleKeys } from "./single-keys";
import { firstTheme, keepTheme, type Theme } from "./theme";

export function App() {
  const [language, setLanguage] = useState<Language>(firstLanguage);
  const [theme, setTheme] = useState<Theme>(firstTheme);
  useEffect(() => {
    document.documentElement.lang = language;
    loadKoreanFace(language);
  }, [language]);
  useEffect(() => keepTheme(theme), [theme]);
  const [hasSingleKeys, setSingleKeys] = useState(firstSingleKeys);
  useEffect(() => keepSingleKeys(hasSingleKeys), [hasSingleKeys]);
  useEffect(keepFilesOut, []);
  const preferences = useMemo(
    () => ({
      theme,
      setTheme,
      setLanguage: (chosen: Language) => {
        keepLanguage(chosen);
        setLanguage(chosen);
      },
      hasSingleKeys,
      setSingleKeys,
    }),
    [theme, hasSingleKeys],
  );
  return (
    <LanguageProvider value={language}>
      <Preferences.Provider value={preferences}>
        <ShortcutProvider hasSingleKeys={hasSingleKeys}>
          <Door />
        </ShortcutProvider>
      </Preferences.Provider>
    </LanguageProvider>
  );
}

/** A file that is let go beside its place would otherwise be opened instead of the page. */
function keepFilesOut(): () => void {
  const keep = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  };
  window.addEventListener("dragover", keep);
  window.addEventListener("drop", keep);
  return () => {
    window.removeEventListener("dragover", keep);
    window.removeEventListener("drop", keep);
  };
}

/** Who is not signed in stays outside, and is taken back to where they wanted to go. */
function Door() {
  const path = usePath();
  const [outside, setOutside] = useState<Outside | null>(null);
  const cache = useMemo(makeCache, []);
  const stream = useMemo(() => makeStream(cache), [cache]);
  const back = useCallback(() => setOutside(null), []);
  useEffect(() => whenOutside(setOutside), []);
  if (path === "/sign-in") {
    const enter = (to: string) => {
      cache.clear();
      setOutside(null);
      go(to, "replace");
    };
    return <SignIn onDone={enter} />;
  }
  if (outside === "signed out") return <SignedOut />;
  if (outside === "another server") return <Another onBack={back} />;
  return (
    <QueryClientProvider client={cache}>
      <StreamProvider value={stream}>
        <Inside />
      </StreamProvider>
    </QueryClientProvider>
  );
}

function Inside() {
  const status = useStatus();
  const stream = useStream();
  const isThere = status.data !== undefined;
  useEffect(() => {
    // Behind what the first look has shown, so that nothing falls between the two.
    if (!isThere) return undefined;
    return stream.start(status.data.seq);
  }, [stream, isThere]);
  if (!status.data) {
    return (
      <main className="outside">
        {status.error ? <Failure error={status.error} onAgain={() => void status.refetch()} /> : <Loading />}
      </main>
    );
  }
  return <Shell status={status.data} />;
}
