import { useEffect, useRef, useState } from 'preact/hooks';
import decodeQR from 'qr/decode.js';
import { Button } from '../../parts/buttons.tsx';
import { Notice } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';

const LOOK_MS = 200;
/** The width to which a picture is scaled before it is read, in pixels. */
const WIDTH = 640;

/** Reads a QR code with the camera. Nothing of the picture leaves the page. */
export function Scan({ onRead }: { readonly onRead: (content: string) => void }) {
  const [isOn, setOn] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  // Browsers offer the camera to https and to this machine alone.
  if (navigator.mediaDevices === undefined) return null;
  const toggle = () => {
    setError(null);
    setOn(!isOn);
  };
  const read = (content: string) => {
    setOn(false);
    onRead(content);
  };
  const fail = (failed: Error) => {
    setOn(false);
    setError(failed);
  };
  return (
    <>
      <Button words={isOn ? text.send.stopScan : text.send.scan} isOn={isOn} onPress={toggle} />
      {isOn && <Camera onRead={read} onError={fail} />}
      {error !== null && <Notice kind="warn" title={text.send.noCamera} words={error.message} />}
    </>
  );
}

interface CameraProps {
  readonly onRead: (content: string) => void;
  readonly onError: (error: Error) => void;
}

function Camera({ onRead, onError }: CameraProps) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    let stream: MediaStream | null = null;
    let isLeft = false;
    const look = setInterval(() => {
      const found = video.current === null ? null : codeIn(video.current);
      if (found !== null) onRead(found);
    }, LOOK_MS);
    const leave = () => {
      isLeft = true;
      clearInterval(look);
      for (const track of stream?.getTracks() ?? []) track.stop();
    };
    const open = async () => {
      const camera = { video: { facingMode: 'environment' } };
      stream = await navigator.mediaDevices.getUserMedia(camera);
      if (isLeft) leave();
      if (isLeft || video.current === null) return;
      video.current.srcObject = stream;
      // People aim by the picture. Browsers do not start one by themselves that is out of sight.
      video.current.scrollIntoView({ block: 'nearest' });
      await video.current.play();
    };
    open().catch((error: Error) => {
      if (!isLeft) onError(error);
    });
    return leave;
  }, []);
  return <video ref={video} class="camera" muted playsInline aria-label={text.send.scan} />;
}

/** Returns what the QR code in the present picture says; null where there is none that can be read. */
function codeIn(video: HTMLVideoElement): string | null {
  if (video.videoWidth === 0) return null;
  const height = Math.round((video.videoHeight / video.videoWidth) * WIDTH);
  const canvas = new OffscreenCanvas(WIDTH, height);
  const context = canvas.getContext('2d');
  if (context === null) return null;
  context.drawImage(video, 0, 0, WIDTH, height);
  try {
    return decodeQR(context.getImageData(0, 0, WIDTH, height));
  } catch {
    return null;
  }
}
