import { type RefObject, useLayoutEffect } from 'react';

const leastPx = 320;
const belowPx = 30;

/**
 * Lets a scrolling box end where the window ends, wherever it begins: what stands above it wraps differently at every
 * width. Call it in a component that renders whenever that may change.
 */
export function useFillHeight(box: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const fit = (): void => {
      const element = box.current;
      if (element === null) return;
      const top = element.getBoundingClientRect().top + window.scrollY;
      const height = `${Math.max(leastPx, Math.floor(window.innerHeight - top - belowPx))}px`;
      if (element.style.height !== height) element.style.height = height;
    };
    fit();
    window.addEventListener('resize', fit);
    return () => {
      window.removeEventListener('resize', fit);
    };
  });
}
