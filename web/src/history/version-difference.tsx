// How two versions of a template differ. Their texts are loaded when they are first needed.
import { DifferenceView } from "../difference-view";
import { Loading } from "../loading";
import { readVersion } from "../stored-templates";
import { useLatest } from "../use-latest";

export function VersionDifference({ name, before, after, label }: { name: string; before: number; after: number; label: string }) {
  const texts = useLatest(() => Promise.all([label, readVersion(name, before), readVersion(name, after)]), [name, before, after, label]);
  return (
    <Loading loaded={texts} doing="Reading the versions">
      {([loadedLabel, old, current]) => <DifferenceView before={old} after={current} label={loadedLabel} />}
    </Loading>
  );
}
