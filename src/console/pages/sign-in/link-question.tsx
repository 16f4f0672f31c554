import { useEffect, useState } from 'preact/hooks';
import { openSidecar, walletOfLink } from '../../api/sidecar.ts';
import type { LinkedWallet } from '../../api/types.ts';
import { Button } from '../../parts/buttons.tsx';
import { Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';

interface LinkQuestionProps {
  readonly link: string;
  /** The key of the session that the browser has; null for none. */
  readonly sessionKey: string | null;
  /** Called when the person wants to use the link, with whether it is for a device. */
  readonly onUse: (isDevice: boolean) => void;
  /** Called when the link is not to be used. */
  readonly onStay: () => void;
}

/**
 * Says whose wallet a link opens, and asks before it is used. A stranger's link would otherwise show the stranger's
 * wallet to somebody who takes it for their own (docs/decisions.md 132).
 */
export function LinkQuestion({ link, sessionKey, onUse, onStay }: LinkQuestionProps) {
  const [wallet, setWallet] = useState<LinkedWallet | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const isIn = useIsIn(sessionKey);
  useEffect(() => {
    document.title = text.signIn.askTitle;
    walletOfLink(link).then(setWallet, setError);
  }, [link]);
  if (error !== null) {
    return (
      <main class="alone">
        <h1>{text.signIn.title}</h1>
        <Problem error={error} title={text.signIn.failed} />
        <Button class="main" words={text.signIn.goOn} onPress={onStay} />
      </main>
    );
  }
  if (wallet === null || isIn === null) {
    return (
      <main class="alone">
        <p role="status">{text.loading}</p>
      </main>
    );
  }
  const stay = { words: isIn ? text.signIn.stay : text.signIn.stayOut, onPress: onStay };
  const use = { words: text.signIn.replace, onPress: () => onUse(wallet.device) };
  // Who scans the link of a new device wants to use it. A session that is there is not replaced by mistake.
  const [main, other] = wallet.device && !isIn ? [use, stay] : [stay, use];
  return (
    <main class="alone">
      <h1>{isIn ? text.signIn.alreadyIn : text.signIn.askTitle}</h1>
      <p>{text.signIn.opens}</p>
      <p class="mono">{wallet.user_pk}</p>
      <p>
        {text.signIn.onNetwork(wallet.node_kind, wallet.network)}{' '}
        {wallet.owner ? text.signIn.asOwner : text.signIn.asClient(wallet.label)}
      </p>
      {wallet.device && <p>{text.signIn.deviceWords}</p>}
      {isIn && <p>{text.signIn.replaceWords}</p>}
      {!wallet.device && <p>{isIn ? text.signIn.justMade : text.signIn.askWords}</p>}
      <div class="buttons">
        <Button class="main" {...main} />
        <Button {...other} />
      </div>
    </main>
  );
}

/** Whether the session of that key goes on; null while that is not known. */
function useIsIn(sessionKey: string | null): boolean | null {
  const [isIn, setIn] = useState(sessionKey === null ? false : null);
  useEffect(() => {
    if (sessionKey === null) return setIn(false);
    let hasEnded = false;
    const onEnded = () => {
      hasEnded = true;
    };
    const told = () => setIn(!hasEnded);
    openSidecar(sessionKey, { onEnded }).about().then(told, told);
  }, [sessionKey]);
  return isIn;
}
