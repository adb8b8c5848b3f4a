import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type JSX, useEffect, useRef } from 'react';

export interface SearchBoxProps {
  /** What is sought in; also its accessible name. */
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly className?: string | undefined;
}

/** A filter over a list. `/` puts the cursor into it, Escape empties it and then leaves it. */
export function SearchBox({ label, value, onChange, className = '' }: SearchBoxProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('keydown', onKey);
    };
  }, []);
  return (
    <TextInput
      ref={input}
      className={className}
      size="xs"
      type="search"
      aria-label={label}
      placeholder={`${label}  /`}
      leftSection={<IconSearch size={14} aria-hidden />}
      value={value}
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        if (value === '') event.currentTarget.blur();
        else onChange('');
      }}
    />
  );
}

/** Whether keys go into text there, and are no shortcuts. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
